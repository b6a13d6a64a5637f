// Domain-prefixed paths: names of controllers and signers (example.com/ingress-controller).
import { wholePattern } from '../../base/text/whole-pattern.ts'
import { invalid, required, type FieldError } from '../../schema/validation/field-error.ts'
import { dnsSubdomainErrors } from './names.ts'

const pathFormat = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"
const pathPattern = wholePattern(pathFormat)

export function validateDomainPrefixedPath(value: string, path: string): FieldError[] {
  if (value === '') return [required(path)]
  const slash = value.indexOf('/')
  if (slash <= 0 || slash === value.length - 1)
    return [invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')]
  const domain = value.slice(0, slash)
  const rest = value.slice(slash + 1)
  const errors = dnsSubdomainErrors(domain).map((detail) => invalid(path, domain, detail))
  if (!pathPattern.test(rest))
    errors.push(invalid(path, rest, `Invalid path (regex used for validation is '${pathFormat}')`))
  return errors
}
