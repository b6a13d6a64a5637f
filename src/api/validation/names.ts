// Names: valid names, labels and annotations, with upstream's messages for invalid ones.
import { append } from '../../base/collections/append.ts'
import { wholePattern } from '../../base/text/whole-pattern.ts'

const dns1123LabelMax = 63
const dns1123SubdomainMax = 253
const labelValueMax = 63
const annotationsBytesMax = 256 << 10

const dns1123Label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const dns1123Subdomain = `${dns1123Label}(\\.${dns1123Label})*`
const qualifiedPart = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'

const dns1123LabelPattern = wholePattern(dns1123Label)
const dns1123SubdomainPattern = wholePattern(dns1123Subdomain)
const dns1035Label = '[a-z]([-a-z0-9]*[a-z0-9])?'
const dns1035LabelPattern = wholePattern(dns1035Label)
const qualifiedPartPattern = wholePattern(qualifiedPart)
const labelValue = `(${qualifiedPart})?`
const labelValuePattern = wholePattern(labelValue)

const regexError = (message: string, format: string, ...examples: string[]): string =>
  `${message} (e.g. ${examples.map((example) => `'${example}'`).join(',  or ')}, regex used for validation is '${format}')`

const bytesError = (max: number): string => `must be no more than ${max} bytes`
const charactersError = (max: number): string => `must be no more than ${max} characters`

export function dnsLabelErrors(name: string): string[] {
  const errors = name.length > dns1123LabelMax ? [charactersError(dns1123LabelMax)] : []
  if (!dns1123LabelPattern.test(name))
    errors.push(
      regexError(
        `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character`,
        dns1123Label,
        'my-name',
        '123-abc',
      ),
    )
  return errors
}

export function dnsSubdomainErrors(name: string): string[] {
  const errors = name.length > dns1123SubdomainMax ? [charactersError(dns1123SubdomainMax)] : []
  if (!dns1123SubdomainPattern.test(name))
    errors.push(
      regexError(
        `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character`,
        dns1123Subdomain,
        'example.com',
      ),
    )
  return errors
}

/** Names of Services: labels that do not begin with a digit. */
export function dns1035LabelErrors(name: string): string[] {
  const errors = name.length > dns1123LabelMax ? [charactersError(dns1123LabelMax)] : []
  if (!dns1035LabelPattern.test(name))
    errors.push(
      regexError(
        `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character`,
        dns1035Label,
        'my-name',
        'abc-123',
      ),
    )
  return errors
}

/** Names that only have to be a path segment: roles, custom signers and others. */
export function pathSegmentErrors(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`]
  return ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`)
}

/** A cache of valid names: the same few are in the labels, taints and tolerations of most objects. */
const goodNamesMax = 10_000
const goodNames = new Set<string>()

export function qualifiedNameErrors(name: string): string[] {
  if (goodNames.has(name)) return []
  const errors = errorsOfQualifiedName(name)
  if (errors.length > 0) return errors
  if (goodNames.size >= goodNamesMax) goodNames.clear()
  goodNames.add(name)
  return errors
}

function errorsOfQualifiedName(name: string): string[] {
  // Most names match the plain pattern; only others are analysed.
  if (name.length <= labelValueMax && qualifiedPartPattern.test(name)) return []
  const parts = name.split('/')
  const errors: string[] = []
  const [last = ''] = parts.slice(-1)
  if (parts.length > 2)
    return [
      regexError(
        `a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
        qualifiedPart,
        'MyName',
        'my.name',
        '123-abc',
      ).replace(/\)$/, `) with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`),
    ]
  if (parts.length === 2) {
    if (parts[0] === '') errors.push('prefix part must be non-empty')
    else
      append(
        errors,
        dnsSubdomainErrors(parts[0] ?? '').map((error) => `prefix part ${error}`),
      )
  }
  if (last === '') errors.push('name part must be non-empty')
  else if (last.length > labelValueMax) errors.push(`name part ${bytesError(labelValueMax)}`)
  if (!qualifiedPartPattern.test(last))
    errors.push(
      `name part ${regexError(
        `must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
        qualifiedPart,
        'MyName',
        'my.name',
        '123-abc',
      )}`,
    )
  return errors
}

export function labelValueErrors(value: string): string[] {
  const errors = value.length > labelValueMax ? [bytesError(labelValueMax)] : []
  if (!labelValuePattern.test(value))
    errors.push(
      regexError(
        `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
        labelValue,
        'MyValue',
        'my_value',
        '12345',
      ),
    )
  return errors
}

export const annotationsTooLong = (annotations: Readonly<Record<string, string>>): boolean => {
  let size = 0
  for (const name in annotations) size += name.length + (annotations[name]?.length ?? 0)
  return size > annotationsBytesMax
}

export { annotationsBytesMax }
