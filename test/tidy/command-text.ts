// Text for programs that run as root is made by commandText of base/net only. The compiler checks the holes of its templates;
// this rule finds what would evade the compiler.

const brands = 'Cidr|CommandText|InterfaceName|IpAddress|Ipv4Address|Ipv6Address|MacAddress|Port'

interface Forbidden {
  readonly pattern: RegExp
  /** The folders or files that may. */
  readonly allowedIn: RegExp
  readonly why: string
}

const forbidden: readonly Forbidden[] = [
  {
    pattern: new RegExp(`\\bas (?:unknown as )?(?:readonly )?\\(?(?:${brands})\\b`),
    allowedIn: /^src\/base\/net\//,
    why: 'declares a text to be parsed; use a parser of base/net',
  },
  {
    pattern: /'-batch'|'-b'/,
    allowedIn: /^src\/machine\/iproute\//,
    why: 'passes lines to ip or bridge; use runIpBatch',
  },
  {
    pattern: /'-f', '-'|nft -f|nft -i/,
    allowedIn: /^src\/machine\/nftables\//,
    why: 'passes commands to nft; use Nftables or runNftScript',
  },
]

/** `path:line why`. Tests may do it. */
export const unparsedCommandText = (path: string, text: string): readonly string[] =>
  !path.startsWith('src/') || /\.(test|suite|harness)\.ts$/.test(path)
    ? []
    : text.split('\n').flatMap((line, index) => {
        if (/^\s*(\/\/|\*|\/\*)/.test(line)) return []
        return forbidden
          .filter(({ pattern, allowedIn }) => pattern.test(line) && !allowedIn.test(path))
          .map(({ why }) => `${path}:${index + 1} ${why}`)
      })
