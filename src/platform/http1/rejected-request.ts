/** A request that cannot be understood, or must not be. The connection ends with it: nobody knows where the next begins. */
export class RejectedRequest extends Error {
  override name = 'RejectedRequest'
  readonly status: number

  constructor(status: number, why: string) {
    super(why)
    this.status = status
  }
}
