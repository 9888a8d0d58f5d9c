"""Pages as in EC2. NextToken is opaque to the caller; here it is the start of the next page."""

from moto.ec2.exceptions import EC2ClientError

LARGEST_PAGE = 1000


def page(response, items, default_size, one_page=False):
    """The page that a request asks for, and the token of the next; no token on the last."""
    if one_page:
        return items, None
    token = response._get_param("NextToken")
    size = response._get_int_param("MaxResults") or default_size
    try:
        start = int(token or 0)
    except ValueError:
        raise EC2ClientError("InvalidNextToken", f"The token '{token}' is not valid") from None
    end = start + min(size, LARGEST_PAGE)
    return items[start:end], str(end) if end < len(items) else None
