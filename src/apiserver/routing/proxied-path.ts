// proxiedPath: the path of a proxied request at the server behind the API server. It is cleaned and encoded again from
// the decoded path, so no server on the way sees `\`, an encoded slash, `..`, an empty segment or a control character.

/** Characters that are not percent-encoded in a path, as in Go. */
const plain = /[A-Za-z0-9\-_.~$&+,/:;=@]/

export function proxiedPath(segments: readonly string[], endsWithSlash: boolean): string {
  const cleaned: string[] = []
  for (const segment of segments) {
    if (segment === '..') cleaned.pop()
    else if (segment !== '' && segment !== '.') cleaned.push(segment)
  }
  const path = `/${cleaned.map(encoded).join('/')}`
  return endsWithSlash && cleaned.length > 0 ? `${path}/` : path
}

function encoded(segment: string): string {
  let text = ''
  for (const byte of new TextEncoder().encode(segment)) {
    const character = String.fromCharCode(byte)
    text += byte < 0x80 && plain.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return text
}
