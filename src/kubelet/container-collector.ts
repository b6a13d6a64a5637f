// ContainerCollector: of containers that ended the last one is kept, to be looked at; those before it go. When the disk is
// full, those of finished pods go too.
import type { Clock } from '../base/clock.ts'
import { errorText, type Log } from '../base/log.ts'
import { isPodFinished } from '../api/core/v1/pod-readiness.ts'
import type { Pod } from '../api/core/v1/pod.ts'
import type { ContainerRuntime, RuntimeContainer } from '../machine/runtime/runtime.ts'

export interface ContainerCollectorParts {
  readonly runtime: Pick<ContainerRuntime, 'inspect' | 'removeContainer'>
  readonly pods: () => readonly Pod[]
  readonly clock: Clock
  readonly log: Log
}

const lookMs = 60_000
/** Ended containers that are kept of each container of a pod. */
const keptPerContainer = 1

/** Only what was started again has left something behind. */
const hasRestarted = ({ status }: Pod): boolean =>
  [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].some(
    ({ restartCount }) => restartCount >= keptPerContainer,
  )

/** Of the containers of a pod, in the order of their creation, those that nobody needs. */
export function surplus(containers: readonly RuntimeContainer[], kept: number): readonly RuntimeContainer[] {
  const ended = Map.groupBy(
    containers.filter(({ state }) => state === 'exited'),
    ({ name }) => name,
  )
  return [...ended.values()].flatMap((all) => all.slice(0, Math.max(0, all.length - kept)))
}

export class ContainerCollector {
  readonly #parts: ContainerCollectorParts

  constructor(parts: ContainerCollectorParts) {
    this.#parts = parts
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#parts
    for (;;) {
      await clock.sleep(lookMs, signal)
      await this.collect(signal).catch((error: unknown) => {
        signal.throwIfAborted()
        log.warn('ended containers could not be collected', { error: errorText(error) })
      })
    }
  }

  collect(signal: AbortSignal): Promise<void> {
    return this.#removeFrom(this.#parts.pods().filter(hasRestarted), keptPerContainer, signal)
  }

  /** Of finished pods nothing is kept. */
  async freeAll(signal: AbortSignal): Promise<void> {
    await this.collect(signal)
    await this.#removeFrom(this.#parts.pods().filter(isPodFinished), 0, signal)
  }

  async #removeFrom(pods: readonly Pod[], kept: number, signal: AbortSignal): Promise<void> {
    const { runtime } = this.#parts
    for (const { metadata } of pods) {
      const running = await runtime.inspect(metadata.uid, signal)
      for (const { id } of surplus(running?.containers ?? [], kept)) await runtime.removeContainer(id, signal)
    }
  }
}
