// Rules that storage classes and volume attributes classes share: the driver and its parameters.
import { invalid, required, tooLong, type FieldError } from '../../../schema/validation/field-error.ts'
import { qualifiedNameErrors } from '../../validation/names.ts'

const parametersMax = 512
const parametersBytesMax = 256 << 10

export function validateProvisioner(provisioner: string | undefined, path: string): FieldError[] {
  if (!provisioner) return [required(path)]
  const name = provisioner.toLowerCase()
  return qualifiedNameErrors(name).map((detail) => invalid(path, name, detail))
}

export function validateParameters(parameters: Readonly<Record<string, string>>, path: string): FieldError[] {
  const entries = Object.entries(parameters)
  if (entries.length > parametersMax) return [tooLong(path, parametersMax)]
  const errors = '' in parameters ? [invalid(path, '', 'field can not be empty.')] : []
  const size = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (size > parametersBytesMax) errors.push(tooLong(path, parametersBytesMax))
  return errors
}
