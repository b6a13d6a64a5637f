// Rules of a CertificateSigningRequest: the request as PEM, its usages, and the signer's name.
// The ASN.1 inside the PEM block and its signature are not checked here: api/ does not parse certificates.
import { append } from '../../../base/collections/append.ts'
import { areRepeated } from '../../../base/collections/first-indexes.ts'
import {
  duplicate,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
  type FieldError,
} from '../../../schema/validation/field-error.ts'
import { dnsLabelErrors, dnsSubdomainErrors } from '../../validation/names.ts'

const domainMax = 253
const signerNameMax = 571
const expirationSecondsMin = 600
const legacySigner = 'kubernetes.io/legacy-unknown'

const requestPem = /-----BEGIN CERTIFICATE REQUEST-----\r?\n[A-Za-z0-9+/=\s]+-----END CERTIFICATE REQUEST-----/
const certificatePem = /-----BEGIN CERTIFICATE-----\r?\n[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/
const anyPem = /-----BEGIN ([A-Z0-9 ]+)-----\r?\n/

export function validatePemRequest(request: string | undefined): FieldError[] {
  const text = request === undefined ? '' : textOfBase64(request)
  const isRequest = anyPem.exec(text)?.[1] === 'CERTIFICATE REQUEST' && requestPem.test(text)
  return isRequest ? [] : [invalid('spec.request', request, 'PEM block type must be CERTIFICATE REQUEST')]
}

function textOfBase64(encoded: string): string {
  try {
    return atob(encoded)
  } catch {
    return ''
  }
}

// Unknown usages are rejected by the enumeration of the field.
export function validateUsages(usages: readonly string[]): FieldError[] {
  if (usages.length === 0) return [required('spec.usages')]
  const repeated = areRepeated(usages)
  return usages.flatMap((usage, index) => (repeated[index] ? [duplicate(`spec.usages[${index}]`, usage)] : []))
}

export function validateSignerName(name: string): FieldError[] {
  const path = 'spec.signerName'
  if (name === '') return [required(path)]
  if (name === legacySigner) return [invalid(path, name, 'the legacy signerName is not allowed via this API version')]
  const [domain = '', rest = '', ...more] = name.split('/')
  if (more.length > 0 || !name.includes('/'))
    return [invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")]
  const errors = domain.length > domainMax ? [tooLong(path, domainMax)] : []
  append(errors, validateParts(domain, path, dnsLabelErrors))
  if (!domain.includes('.'))
    errors.push(invalid(path, domain, 'should be a domain with at least two segments separated by dots'))
  append(errors, validateParts(rest, path, dnsSubdomainErrors))
  if (name.length > signerNameMax) errors.push(tooLong(path, signerNameMax))
  return errors
}

/** Only the errors of the first part that has some: the others would be repetitions. */
function validateParts(text: string, path: string, partErrors: (part: string) => string[]): FieldError[] {
  for (const part of text.split('.')) {
    const details = partErrors(part)
    if (details.length > 0)
      return details.map((detail) => invalid(path, text, `validating label ${JSON.stringify(part)}: ${detail}`))
  }
  return []
}

export const validateExpiration = (seconds: number | undefined): FieldError[] =>
  seconds !== undefined && seconds < expirationSecondsMin
    ? [
        invalid(
          'spec.expirationSeconds',
          seconds,
          `may not specify a duration less than ${expirationSecondsMin} seconds (10 minutes)`,
        ),
      ]
    : []

interface RequestCondition {
  readonly type: string
  readonly status: string
}

/** Approval and denial cannot be reverted: such conditions must be true. */
const decisions = ['Approved', 'Denied', 'Failed']

export function validateConditions(conditions: readonly RequestCondition[]): FieldError[] {
  const earlier = new Set<string>()
  return conditions.flatMap(({ type, status }, index) => {
    const path = `status.conditions[${index}]`
    const errors = type ? [] : [required(`${path}.type`)]
    const allowed = decisions.includes(type) ? ['True'] : ['False', 'True', 'Unknown']
    if (!status) errors.push(required(`${path}.status`))
    else if (!allowed.includes(status)) errors.push(notSupported(`${path}.status`, status, allowed))
    const opposite = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : undefined
    if (opposite !== undefined && earlier.has(opposite))
      errors.push(invalid(`${path}.type`, type, 'Approved and Denied conditions are mutually exclusive'))
    if (earlier.has(type)) errors.push(duplicate(`${path}.type`, type))
    earlier.add(type)
    return errors
  })
}

interface RequestStatus {
  readonly conditions?: readonly RequestCondition[]
  readonly certificate?: string
}

/** An update of the status cannot approve or deny, and cannot change an issued certificate. */
export function validateStatusChange(status: RequestStatus, old: RequestStatus): FieldError[] {
  const having = ({ conditions = [] }: RequestStatus, type: string) => conditions.filter((each) => each.type === type)
  const errors: FieldError[] = []
  const reject = (verb: string, type: string) =>
    errors.push(forbidden('status.conditions', `updates may not ${verb} a condition of type ${JSON.stringify(type)}`))
  for (const type of decisions) if (having(status, type).length < having(old, type).length) reject('remove', type)
  for (const type of ['Approved', 'Denied'])
    if (having(status, type).length > having(old, type).length) reject('add', type)
  if (old.certificate && status.certificate !== old.certificate)
    errors.push(forbidden('status.certificate', 'updates may not modify existing certificate content'))
  else if (status.certificate && !certificatePem.test(textOfBase64(status.certificate)))
    errors.push(invalid('status.certificate', '<certificate data>', 'must contain at least one CERTIFICATE PEM block'))
  return errors
}
