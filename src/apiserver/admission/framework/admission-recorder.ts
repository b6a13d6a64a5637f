// AdmissionRecorder: warnings for the client and annotations of the audit record that admission adds.
import type { RequestRecord } from '../../request/request.ts'

const warningsMax = 64
const annotationsMax = 64

const none: ReadonlyMap<string, string> = new Map()

export class AdmissionRecorder {
  readonly #record: Pick<RequestRecord, 'annotate'> | undefined
  readonly #warnings: string[] = []
  #annotations: Map<string, string> | undefined

  constructor(record?: Pick<RequestRecord, 'annotate'>) {
    this.#record = record
  }

  get warnings(): readonly string[] {
    return this.#warnings
  }

  get annotations(): ReadonlyMap<string, string> {
    return this.#annotations ?? none
  }

  warn(text: string): void {
    if (this.#warnings.length < warningsMax && !this.#warnings.includes(text)) this.#warnings.push(text)
  }

  /** The first value of a key is kept. */
  annotate(key: string, value: string, holdsContent = false): void {
    this.#annotations ??= new Map()
    if (this.#annotations.size >= annotationsMax || this.#annotations.has(key)) return
    this.#annotations.set(key, value)
    this.#record?.annotate(key, value, holdsContent)
  }
}
