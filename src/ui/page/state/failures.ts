// What has failed, by the part of the page that shows it: an error is shown beside its cause until the same part succeeds.

export type FailurePlace =
  | 'copy'
  | 'create'
  | 'edit'
  | 'list'
  | 'logs'
  | 'map'
  | 'navigation'
  | 'page'
  | 'palette'
  | 'terminal'
  | 'time'

export class Failures {
  readonly #texts = new Map<FailurePlace, string>()

  get(place: FailurePlace): string | undefined {
    return this.#texts.get(place)
  }

  set(place: FailurePlace, error: unknown): void {
    this.#texts.set(place, error instanceof Error ? error.message : String(error))
  }

  clear(place: FailurePlace): void {
    this.#texts.delete(place)
  }
}
