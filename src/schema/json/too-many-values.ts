/** A text or message contains more scalars, lists and objects than its reader accepts. */
export class TooManyValuesError extends Error {
  override name = 'TooManyValuesError'

  constructor(valuesMax: number) {
    super(`limit is ${valuesMax} values`)
  }
}
