// Names of drivers in volumes, storage classes and devices.
import { invalid, required, tooLong, type FieldError } from '../../schema/validation/field-error.ts'
import { dnsSubdomainErrors } from './names.ts'

const driverNameMax = 63

export function validateDriverName(name: string | undefined, path: string): FieldError[] {
  if (!name) return [required(path)]
  return [
    ...(name.length > driverNameMax ? [tooLong(path, driverNameMax)] : []),
    ...dnsSubdomainErrors(name.toLowerCase()).map((detail) => invalid(path, name, detail)),
  ]
}
