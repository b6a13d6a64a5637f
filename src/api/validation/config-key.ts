// Keys of ConfigMaps and Secrets, with upstream's messages for invalid ones.
import { wholePattern } from '../../base/text/whole-pattern.ts'

const keyLengthMax = 253
const format = '[-._a-zA-Z0-9]+'
const pattern = wholePattern(format)

export function configKeyErrors(key: string): string[] {
  const errors: string[] = []
  if (key.length > keyLengthMax) errors.push(`must be no more than ${keyLengthMax} characters`)
  if (!pattern.test(key))
    errors.push(
      `a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '${format}')`,
    )
  if (key === '.' || key === '..') errors.push(`must not be '${key}'`)
  else if (key.startsWith('..')) errors.push(`must not start with '..'`)
  return errors
}
