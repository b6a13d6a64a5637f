// Rules that claims, classes and slices of devices share: names, selectors, configuration, tolerations.
import { append } from '../../../base/collections/append.ts'
import { areRepeated } from '../../../base/collections/first-indexes.ts'
import { duplicate, invalid, required, tooLong, type FieldError } from '../../../schema/validation/field-error.ts'
import { isJsonObject } from '../../../schema/json/json-value.ts'
import { validateDriverName } from '../../validation/driver-name-rules.ts'
import { dnsLabelErrors, labelValueErrors, qualifiedNameErrors } from '../../validation/names.ts'
import { selectorErrors } from './device-selector.ts'
import type { DeviceSelector, DeviceToleration, OpaqueDeviceConfiguration } from './device-requests.ts'
import { jsonText } from '../../../schema/json/exact-json.ts'

/** The maximum number of requests, constraints, selectors or configurations in a list. */
export const deviceListMax = 32

const expressionBytesMax = 10 << 10
const parametersBytesMax = 10 << 10
const identifierMax = 32
const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/
const identifierError =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"

export function validateSelector({ cel }: DeviceSelector, path: string): FieldError[] {
  if (cel === undefined) return [required(`${path}.cel`)]
  const at = `${path}.cel.expression`
  return cel.expression.length > expressionBytesMax
    ? [tooLong(at, expressionBytesMax)]
    : selectorErrors(cel.expression, at)
}

export function validateConfiguration(
  { opaque }: { readonly opaque?: OpaqueDeviceConfiguration },
  path: string,
): FieldError[] {
  if (opaque === undefined) return [required(`${path}.opaque`)]
  return [
    ...validateDriverName(opaque.driver, `${path}.opaque.driver`),
    ...validateParameters(opaque.parameters, `${path}.opaque.parameters`),
  ]
}

function validateParameters(parameters: unknown, path: string): FieldError[] {
  if (parameters === undefined || parameters === null) return [required(path)]
  if (jsonText(parameters).length > parametersBytesMax) return [tooLong(path, parametersBytesMax)]
  return isJsonObject(parameters) ? [] : [invalid(path, '<value omitted>', 'must be a valid JSON object')]
}

/** The name of an attribute or a capacity; one without a domain belongs to the driver. */
export function validateAttributeName(name: string, path: string): FieldError[] {
  const [first = '', second, ...more] = name.split('/')
  if (more.length > 0) return [invalid(path, name, 'must not contain more than one slash')]
  if (second === undefined) return validateIdentifier(first, path)
  return [
    ...(first === '' ? [invalid(path, '', 'the domain must not be empty')] : validateDriverName(first, path)),
    ...(second === '' ? [invalid(path, '', 'the name must not be empty')] : validateIdentifier(second, path)),
  ]
}

export const validateFullAttributeName = (name: string, path: string): FieldError[] => [
  ...validateAttributeName(name, path),
  ...(name.includes('/')
    ? []
    : [invalid(path, name, 'a fully qualified name must be a domain and a name separated by a slash')]),
]

const validateIdentifier = (id: string, path: string): FieldError[] => [
  ...(id.length > identifierMax ? [tooLong(path, identifierMax)] : []),
  ...(identifier.test(id) ? [] : [invalid(path, id, identifierError)]),
]

// Unknown operators and effects are rejected by the enumerations of the fields.
export function validateToleration({ key = '', operator, value = '' }: DeviceToleration, path: string): FieldError[] {
  const errors = key === '' ? [] : qualifiedNameErrors(key).map((detail) => invalid(`${path}.key`, key, detail))
  if (operator === 'Exists' && value !== '')
    errors.push(invalid(`${path}.value`, value, 'must be empty for operator `Exists`'))
  if (operator === 'Equal')
    append(
      errors,
      labelValueErrors(value).map((detail) => invalid(`${path}.value`, value, detail)),
    )
  return errors
}

export const validateLabel = (name: string, path: string): FieldError[] =>
  dnsLabelErrors(name).map((detail) => invalid(path, name, detail))

export function validateUnique(keys: readonly string[], path: string): FieldError[] {
  const repeated = areRepeated(keys)
  return keys.flatMap((key, index) => (repeated[index] ? [duplicate(`${path}[${index}]`, key)] : []))
}
