// Size limits of lists and maps, with upstream's messages.
import { tooMany, type FieldError } from '../../schema/validation/field-error.ts'

/** The errors of the entries, or one error if there are too many to check. */
export const validateEntries = <Entry>(
  entries: readonly Entry[],
  path: string,
  max: number,
  validateEntry: (entry: Entry, path: string) => FieldError[],
): FieldError[] =>
  entries.length > max
    ? [tooMany(path, entries.length, max)]
    : entries.flatMap((entry, index) => validateEntry(entry, `${path}[${index}]`))
