// Access modes of volumes and claims: their column and their valid combinations.
import { forbidden, notSupported, type FieldError } from '../../../../schema/validation/field-error.ts'

const supportedModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']

const abbreviations = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
] as const

/** `RWO,ROX` */
export const accessModesText = (modes: readonly string[] = []): string =>
  abbreviations
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',')

export function validateAccessModes(modes: readonly string[], path: string): FieldError[] {
  const known = modes.filter((mode) => supportedModes.includes(mode))
  const errors = modes
    .filter((mode) => !supportedModes.includes(mode))
    .map((mode) => notSupported(path, mode, supportedModes))
  if (known.includes('ReadWriteOncePod') && known.some((mode) => mode !== 'ReadWriteOncePod'))
    errors.push(forbidden(path, 'may not use ReadWriteOncePod with other access modes'))
  return errors
}
