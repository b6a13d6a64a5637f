// IP addresses and CIDRs are parsed and formatted by base/net only: parsers that differ in a detail, such as leading zeros, lead
// to a value that one component accepts and another one reads as something else.

const forbidden: readonly { readonly pattern: RegExp; readonly why: string }[] = [
  {
    pattern: /\b(?:isIP|isIPv4|isIPv6|BlockList|SocketAddress)\b.*from 'node:net'/,
    why: 'uses the address parser of Node.js; use isIp, parseIp or parseIpSloppy',
  },
  { pattern: /::ffff:/i, why: 'handles IPv4 in IPv6 notation; use parseIpSloppy or parseRemoteIp' },
  {
    pattern: /(?:\\\.\\d(?:\+|\{1,3\})\)?){3}|\\\.\\d(?:\+|\{1,3\})\)\{3\}/,
    why: 'matches an IPv4 address; use isIp or parseIp',
  },
  {
    pattern: /startsWith\('(?:127|169\.254|224|fe80|ff02)[.:]/,
    why: 'compares a prefix; use a function of address-kind',
  },
  { pattern: /includes\(':'\) \? `\[/, why: 'puts an IPv6 address in brackets; use urlHost or joinHostPort' },
]

/** `path:line why`. Tests may do it. */
export const otherAddressParsers = (path: string, text: string): readonly string[] =>
  !path.startsWith('src/') || path.startsWith('src/base/net/') || /\.(test|suite|harness)\.ts$/.test(path)
    ? []
    : text.split('\n').flatMap((line, index) => {
        if (/^\s*(\/\/|\*|\/\*)/.test(line)) return []
        return forbidden.filter(({ pattern }) => pattern.test(line)).map(({ why }) => `${path}:${index + 1} ${why}`)
      })
