// Lists and maps that may not grow beyond a bound, with upstream's words for too many entries.
import { tooMany, type FieldError } from '../../schema/validation/field-error.ts'

/** The errors of the entries, or the one that there are too many to look at. */
export const validateEntries = <Entry>(
  entries: readonly Entry[],
  path: string,
  max: number,
  validateEntry: (entry: Entry, path: string) => FieldError[],
): FieldError[] =>
  entries.length > max
    ? [tooMany(path, entries.length, max)]
    : entries.flatMap((entry, index) => validateEntry(entry, `${path}[${index}]`))
