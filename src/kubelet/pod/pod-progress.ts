// PodProgress: detects syncs that make no progress. Actions without effect end the sync with an error, so that the pod
// is retried with a backoff instead of in a tight loop.
import type { PodAction } from './pod-actions.ts'

/** Maximum number of rounds in one sync; more than any pod needs. */
export const roundsMax = 1_000
/** Maximum number of consecutive rounds with the same actions. */
export const sameRoundsMax = 3

export class NoProgress extends Error {
  override name = 'NoProgress'
}

export class PodProgress {
  #rounds = 0
  #sameRounds = 0
  #last = ''

  /** Must be called before the actions of a round are executed. Throws NoProgress. */
  check(due: readonly PodAction[]): void {
    const now = due.map(actionText).join(', ')
    this.#sameRounds = now === this.#last ? this.#sameRounds + 1 : 1
    this.#last = now
    if (this.#sameRounds > sameRoundsMax) throw new NoProgress(`${sameRoundsMax} rounds without effect: ${now}`)
    if (++this.#rounds > roundsMax) throw new NoProgress(`not done after ${roundsMax} rounds: ${now}`)
  }
}

function actionText(action: PodAction): string {
  switch (action.kind) {
    case 'start-container':
      return `${action.kind} ${action.container.name} ${action.attempt}`
    case 'stop-containers':
      return `${action.kind} ${action.stops.map(({ container }) => container.id).join(' ')}`
    case 'remove-container':
      return `${action.kind} ${action.container.id}`
    case 'stop-sandbox':
    case 'remove-sandbox':
      return `${action.kind} ${action.sandboxId}`
    case 'run-sandbox':
    case 'release-pod':
    case 'wait':
      return action.kind
    default:
      return action satisfies never
  }
}
