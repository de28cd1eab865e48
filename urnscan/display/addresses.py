"""Removal of users, passwords and signatures from addresses in texts for people.

Every message is filtered, because an address may be where nobody expects an address, for example as the name of a
missing file.
"""

import re
from urllib.parse import unquote

# Schemes of addresses with users. After these schemes, the "//" may be incomplete: the text is still an address.
_SCHEMES = "https?|s3a?|gc?s|abfss?|hdfs|viewfs|webhdfs|ftps?|sftp|ssh|smb|webdavs?|davs?"
# Limits of length, and places where an address may begin, keep the search linear in any text.
_USER = re.compile(
    rf"""
    (?P<begin> \b (?P<scheme> [A-Za-z][A-Za-z0-9+.-]{{0,63}} ) :///* )
    (?: (?P<user> [^/?\#\s]* ) @
      # A "/", "?" or "#" in a password: what is before it is not a port.
      | [^/?\#\s:@\[]* : (?! [0-9]* (?: [/?\#\s'"] | \Z ) ) \S{{0,200}} @ )
  | (?P<short> (?<! [^\s'"] ) (?i: {_SCHEMES} ) :/? ) [^/?\#\s'"]* @
    """,
    re.VERBOSE,
)
_NO_SECRETS = frozenset(("USER:PASSWORD", "anonymous"))
"""Users that urnscan itself writes: a placeholder for a user and a password, and the user of a public bucket."""
_PARAMETER = re.compile(r"(?<=([?&;#]))([^=?&;#\s]+)=")
_VALUE = re.compile(r"""[^&#\s'"]*?(?:&|(?=[#\s'"]|[:;,](?:\s|\Z)|\Z))""")
# `/a;jsessionid=…/b`
_VALUE_IN_PATH = re.compile(r"""[^/?&;#\s'"]*?(?=[/?&;#\s'"]|[:,](?:\s|\Z)|\Z)""")
_WORD = re.compile("[A-Z]?[a-z0-9]+|[A-Z]+")
# A parameter is left out if a word of its name is in _SECRET, if its name contains a longer word of _CONTAINED, or if its
# name begins like those of signatures in clouds (_SIGNED).
_SECRET = frozenset("sig key auth pass pw pwd pin otp hmac policy session sas jwt code cookie csrf xsrf passwd".split())
_CONTAINED = re.compile(
    "password|passphrase|passwd|secret|token|signature|credential|authoriz|apikey|accesskey|privatekey|hmac|bearer|saml|sess(?:ion)?id"
)
_SIGNED = ("x-amz-", "x-goog-", "x-oss-", "x-ms-")


def without_secrets(text: str) -> str:
    """Return the text without users, passwords and secret parameters (signatures, tokens) of the URLs in it, even of
    misspelt URLs. The user `anonymous`, a container before the "@" (`abfs`), a repository (`github`), and the rest of
    the text stay.

    >>> without_secrets("https:me:secret@host/a?page=2&sharedsecret=x: no such file or folder")
    'https:host/a?page=2: no such file or folder'
    """
    if ":" not in text and "=" not in text:
        return text
    return _without_parameters(_USER.sub(_public, text))


def _public(match: re.Match[str]) -> str:
    if match["user"] in _NO_SECRETS:
        return match[0]
    public = public_user(match["scheme"], match["user"] or "")
    return f"{match['begin']}{public}@" if public else match["begin"] or match["short"]


def public_user(scheme: str, user: str) -> str:
    """Return the part of `user` (the text before the "@" of a URL) that names no person and is no secret: the container
    with the schemes `abfs` and `abfss`, the repository with `github`. Empty with other schemes.

    >>> public_user("abfs", "container:key"), public_user("github", "owner:name"), public_user("https", "me:secret")
    ('container', 'owner:name', '')
    """
    if scheme in ("abfs", "abfss"):
        return user.partition(":")[0]
    return user if scheme == "github" else ""


def _without_parameters(text: str) -> str:
    """The text without the secret parameters of addresses in it, such as `sig=…`."""
    parts: list[str] = []
    at = 0
    while match := _PARAMETER.search(text, at):
        # A path may contain "&" and "=", as in "&b=1?sig=…".
        end = match.end()
        if _is_secret(unquote(match[2])):
            parts += filter(None, [text[at : match.start()]])
            value = (_VALUE if match[1] in "?&" else _VALUE_IN_PATH).match(text, end)
            end = value.end() if value else end
            if not text.endswith("&", 0, end):
                # No parameter follows, so the character before the parameter is removed, too.
                parts[-1] = parts[-1][:-1]
        else:
            parts += [text[at:end]]
        at = end
    return "".join([*parts, text[at:]])


def _is_secret(parameter: str) -> bool:
    lower = parameter.lower()
    words = {lower, *(word.lower() for word in _WORD.findall(parameter))}
    return bool(words & _SECRET) or bool(_CONTAINED.search(re.sub("[-_.]", "", lower))) or lower.startswith(_SIGNED)
