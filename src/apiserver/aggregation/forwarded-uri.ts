// forwardedUri: path and query as they are forwarded. As upstream, the path is decoded and encoded again, so that the
// extension server sees the segments that were authorized: `%2F` separates segments on both sides.

/** A path of these characters is forwarded as it is. */
const plainPath = /^[\w.~$&+,/:;=@-]*$/

export function forwardedUri(uri: string): string {
  const mark = uri.indexOf('?')
  const [path, query] = mark < 0 ? [uri, ''] : [uri.slice(0, mark), uri.slice(mark + 1)]
  const forwarded = plainPath.test(path) ? path : escapedPath(decodeURIComponent(path))
  return query === '' ? forwarded : `${forwarded}?${encodedQuery(query)}`
}

const escapedPath = (path: string): string =>
  encodeURIComponent(path)
    .replaceAll(/%(?:24|26|2B|2C|2F|3A|3B|3D|40)/g, decodeURIComponent)
    .replaceAll(/[!'()*]/g, escaped)

/** In the order of the names. */
const encodedQuery = (query: string): string =>
  [...new URLSearchParams(query)]
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, value]) => `${queryEscaped(name)}=${queryEscaped(value)}`)
    .join('&')

const queryEscaped = (text: string): string =>
  encodeURIComponent(text)
    .replaceAll('%20', '+')
    .replaceAll(/[!'()*]/g, escaped)

const escaped = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
