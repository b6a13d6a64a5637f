// The containers of a pod in which a terminal is opened, and how. A debug container has a shell of its own, as `kubectl debug -it` attaches
// to it; in others a shell is started.
import type { ClusterObject, ShellPlace } from '../source/source.ts'

export interface Shell extends ShellPlace {
  /** Why there is no terminal now; empty if there is one. */
  readonly waits: string
}

interface ContainerFields {
  readonly name: string
  readonly stdin?: boolean
  readonly tty?: boolean
}

interface ContainerStateFields {
  readonly name: string
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string }
    readonly running?: object
    readonly terminated?: { readonly reason?: string; readonly exitCode?: number }
  }
}

interface PodFields {
  readonly spec?: {
    readonly containers?: readonly ContainerFields[]
    readonly ephemeralContainers?: readonly ContainerFields[]
  }
  readonly status?: { readonly ephemeralContainerStatuses?: readonly ContainerStateFields[] }
}

export function shellsOf(pod: ClusterObject): readonly Shell[] {
  const { spec, status } = pod as PodFields
  const { containers = [], ephemeralContainers = [] } = spec ?? {}
  const states = new Map((status?.ephemeralContainerStatuses ?? []).map((each) => [each.name, each.state]))
  return [
    ...containers.map(({ name }) => ({ container: name, isAttached: false, waits: '' })),
    ...ephemeralContainers.map(({ name, stdin, tty }) => ({
      container: name,
      isAttached: stdin === true && tty === true,
      waits: waitsFor(states.get(name)),
    })),
  ]
}

function waitsFor(state: ContainerStateFields['state']): string {
  if (state?.running !== undefined) return ''
  if (state?.terminated !== undefined)
    return `The container has ended with exit code ${state.terminated.exitCode ?? 'unknown'}. Debug adds another one.`
  const { reason = '', message = '' } = state?.waiting ?? {}
  const why = [reason, message].filter((text) => text !== '').join(': ')
  return why === '' ? 'The container starts…' : `The container starts… ${why}`
}
