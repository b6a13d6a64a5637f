/** A malformed or forbidden request. The connection is closed, because the start of the next request is unknown. */
export class RejectedRequest extends Error {
  override name = 'RejectedRequest'
  readonly status: number

  constructor(status: number, why: string) {
    super(why)
    this.status = status
  }
}
