"""CreateTags and DeleteTags for resources of the ground; all others are moto's."""

from moto.core.responses import EmptyResult
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.responses import EC2Response

_USER_TAGS = 50


def actions(ground, reservations):
    create_by_moto, delete_by_moto = EC2Response.create_tags, EC2Response.delete_tags

    def owned(resource_id):
        """The tags of one of our resources, to be changed in place; None if it is moto's."""
        if resource_id.startswith("i-"):
            instance = ground.instances.get(resource_id)
            if instance is None or not instance.visible:
                raise EC2ClientError("InvalidInstanceID.NotFound", f"The instance ID '{resource_id}' does not exist")
            return instance.backend.tags[resource_id]
        if resource_id.startswith("cr-"):
            return reservations.get(resource_id).tags
        if resource_id.startswith("pg-") and resource_id in ground.placement_groups:
            return ground.placement_groups[resource_id].tags
        return {} if resource_id.startswith(("vol-", "eni-")) else None

    def create_tags(self):
        with ground.lock:
            ours = [owned(resource) for resource in self._get_param("Resources", [])]
            if any(tags is None for tags in ours):
                return create_by_moto(self)
            self.error_on_dryrun()
            added = {tag["Key"]: tag.get("Value", "") for tag in self._get_param("Tags", [])}
            for key in added:
                if key.startswith("aws:"):
                    raise EC2ClientError(
                        "InvalidParameterValue",
                        f"Value ( {key} ) for parameter key is invalid. Tag keys starting with 'aws:' are reserved",
                    )
            for tags in ours:
                if len([key for key in tags | added if not key.startswith("aws:")]) > _USER_TAGS:
                    raise EC2ClientError("TagLimitExceeded", "The maximum number of tags has been reached.")
            for tags in ours:
                tags.update(added)
        return EmptyResult()

    def delete_tags(self):
        with ground.lock:
            ours = [owned(resource) for resource in self._get_param("Resources", [])]
            if any(tags is None for tags in ours):
                return delete_by_moto(self)
            self.error_on_dryrun()
            for tag in self._get_param("Tags", []):
                for tags in ours:
                    if "Value" not in tag or tags.get(tag["Key"]) == tag["Value"]:
                        tags.pop(tag["Key"], None)
        return EmptyResult()

    return [create_tags, delete_tags]
