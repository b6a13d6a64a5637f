// The uri format: a URI of a request as Go's net/url parses it: absolute, or an absolute path.

export function isRequestUri(text: string): boolean {
  if (text === '' || /[^\u0020-\u007E\u0080-\uFFFF]/.test(text)) return false
  if (text === '*') return true
  const [, scheme = ''] = /^([A-Za-z][-A-Za-z0-9+.]*):/.exec(text) ?? []
  const [rest = ''] = text.slice(scheme === '' ? 0 : scheme.length + 1).split('?', 1)
  if (!rest.startsWith('/')) return scheme !== ''
  if (scheme === '' || !rest.startsWith('//') || rest.startsWith('///')) return isEscaped(rest)
  const slash = rest.indexOf('/', 2)
  const authority = rest.slice(2, slash === -1 ? undefined : slash)
  const at = authority.lastIndexOf('@')
  return (
    isUserInfo(authority.slice(0, Math.max(at, 0))) &&
    isHost(authority.slice(at + 1)) &&
    (slash === -1 || isEscaped(rest.slice(slash)))
  )
}

const isEscaped = (text: string): boolean => !/%(?![0-9a-fA-F]{2})/.test(text)

const isUserInfo = (text: string): boolean => /^[-\w.:~!$&'()*+,;=%@]*$/.test(text) && isEscaped(text)

/** The characters that Go allows in a host. ASCII characters must not be escaped. */
const isHostName = (text: string): boolean =>
  /^(?:[-\w.~!$&'()*+,;=:[\]<>"\u0080-\uFFFF]|%[89a-fA-F][0-9a-fA-F])*$/.test(text)

function isHost(text: string): boolean {
  if (!text.startsWith('[')) return /^[^:]*(?::\d*)?$/.test(text) && isHostName(text)
  const end = text.lastIndexOf(']')
  if (end === -1 || !/^(?::\d*)?$/.test(text.slice(end + 1))) return false
  // A zone follows an escaped percent sign.
  const [address = '', ...zone] = text.slice(1, end).split('%25')
  return isHostName(address) && isEscaped(zone.join('%25'))
}
