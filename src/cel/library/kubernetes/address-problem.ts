// Why a text is not an IP address or a range, in the wording of Go's parser.

/** undefined: the text is an address of one of the two families, possibly with a zone or mapped. */
export function addressProblem(text: string): string | undefined {
  const why = /^[^.:%]*([.:%])?/.exec(text)?.[1]
  const problem =
    why === '.'
      ? problemOfFour(text)
      : why === ':'
        ? problemOfSix(text)
        : why === '%'
          ? 'missing IPv6 address'
          : 'unable to parse IP'
  return problem === undefined ? undefined : `ParseAddr(${JSON.stringify(text)}): ${problem}`
}

const at = (text: string, index: number): string => `(at ${JSON.stringify(text.slice(index))})`

function problemOfFour(text: string): string | undefined {
  let [value, digits, fields] = [0, 0, 0]
  for (const [index, character] of Array.from(text).entries()) {
    if (/\d/.test(character)) {
      if (digits === 1 && value === 0) return 'IPv4 field has octet with leading zero'
      value = value * 10 + Number(character)
      digits++
      if (value > 255) return 'IPv4 field has value >255'
    } else if (character === '.') {
      if (index === 0 || index === text.length - 1 || text[index - 1] === '.')
        return `IPv4 field must have at least one digit ${at(text, index)}`
      if (fields === 3) return 'IPv4 address too long'
      fields++
      value = 0
      digits = 0
    } else return `unexpected character ${at(text, index)}`
  }
  return fields < 3 ? 'IPv4 address too short' : undefined
}

const groupsMax = 8

function problemOfSix(whole: string): string | undefined {
  const [text = '', zone] = whole.split('%', 2)
  if (zone === '') return 'zone must be a non-empty string'
  let [rest, groups, hasGap] = [text, 0, false]
  if (rest.startsWith('::')) {
    hasGap = true
    rest = rest.slice(2)
  }
  while (rest !== '' && groups < groupsMax) {
    const digits = /^[0-9a-fA-F]*/.exec(rest)?.[0] ?? ''
    if (digits === '') return `each colon-separated field must have at least one digit ${at(rest, 0)}`
    if (rest[digits.length] === '.') return problemOfMapped(rest, groups, hasGap)
    if (digits.length > 4) return `each group must have 4 or less digits ${at(rest, 0)}`
    groups++
    rest = rest.slice(digits.length)
    if (rest === '') break
    if (rest[0] !== ':') return `unexpected character, want colon ${at(rest, 0)}`
    if (rest.length === 1) return `colon must be followed by more characters ${at(rest, 0)}`
    rest = rest.slice(1)
    if (rest[0] !== ':') continue
    if (hasGap) return `multiple :: in address ${at(rest, 0)}`
    hasGap = true
    rest = rest.slice(1)
  }
  if (rest !== '') return `trailing garbage after address ${at(rest, 0)}`
  if (!hasGap && groups < groupsMax) return 'address string too short'
  return hasGap && groups === groupsMax ? 'the :: must expand to at least one field of zeros' : undefined
}

/** An IPv4 address at the end of an IPv6 address. */
function problemOfMapped(rest: string, groups: number, hasGap: boolean): string | undefined {
  if (!hasGap && groups !== 6)
    return `embedded IPv4 address must replace the final 2 fields of the address ${at(rest, 0)}`
  if (groups > 6) return `too many hex fields to fit an embedded IPv4 at the end of the address ${at(rest, 0)}`
  return problemOfFour(rest)
}

/** undefined: the text is a range. */
export function rangeProblem(text: string): string | undefined {
  const slash = text.lastIndexOf('/')
  const wrong = (why: string): string => `netip.ParsePrefix(${JSON.stringify(text)}): ${why}`
  if (slash < 0) return wrong("no '/'")
  const [address, bits] = [text.slice(0, slash), text.slice(slash + 1)]
  const problem = addressProblem(address)
  if (problem !== undefined) return wrong(problem)
  if (address.includes('%')) return wrong('IPv6 zones cannot be present in a prefix')
  if (!/^(0|[1-9]\d*)$/.test(bits)) return wrong(`bad bits after slash: ${JSON.stringify(bits)}`)
  return Number(bits) > (address.includes(':') ? 128 : 32) ? wrong('prefix length out of range') : undefined
}
