/** A text or message holds more scalars, lists and objects than its reader accepts. */
export class TooManyValues extends Error {
  override name = 'TooManyValues'

  constructor(valuesMax: number) {
    super(`limit is ${valuesMax} values`)
  }
}
