/** A request that cannot be understood, or must not be. The connection ends with it: nobody knows where the next begins. */
export class Refused extends Error {
  override name = 'Refused'
  readonly status: number

  constructor(status: number, why: string) {
    super(why)
    this.status = status
  }
}
