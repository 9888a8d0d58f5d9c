"""Client tokens: a repeated request gets the first answer again; another request with the same token is rejected."""

import json

from answer import Answer
from moto.ec2.exceptions import EC2ClientError


def idempotent(ground, action):
    """Wraps an EC2 action, whose answer must be plain data. EC2 keeps a token for at least a day, the ground for ever."""

    def with_token(self):
        token = self._get_param("ClientToken")
        if not token or self._get_param("DryRun", False):
            return action(self)
        asked = {key: value for key, value in dict(self.params).items() if key != "ClientToken"}
        fingerprint = json.dumps(asked, sort_keys=True, default=str)
        key = (action.__name__, token)
        with ground.lock:
            if key in ground.tokens:
                first, answer = ground.tokens[key]
                if first != fingerprint:
                    raise EC2ClientError(
                        "IdempotentParameterMismatch",
                        f"The client token {token} was used before with other parameters.",
                    )
                return Answer(answer)
            # Errors are not stored: the same token may be tried again.
            result = action(self)
            ground.tokens[key] = (fingerprint, result.result)
            return result

    with_token.__name__ = action.__name__
    return with_token
