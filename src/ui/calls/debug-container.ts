// A debug container: an ephemeral container of a pod that runs, as `kubectl debug -it` adds it.
import type { CallApi } from './workload-calls.ts'

/** What a user chooses. */
export interface DebugChoice {
  readonly image: string
  /** The container whose processes are seen; empty for none. */
  readonly target: string
}

/** What a pod offers for it. */
export interface DebugOffer {
  /** The name of the new container. */
  readonly name: string
  readonly targets: readonly string[]
}

interface NamedContainer {
  readonly name: string
}

interface PodFields {
  readonly spec?: {
    readonly containers?: readonly NamedContainer[]
    readonly initContainers?: readonly NamedContainer[]
    readonly ephemeralContainers?: readonly NamedContainer[]
  }
}

const strategicMergePatch = 'application/strategic-merge-patch+json'

/** Reads the pod. Names of containers are never used again, because an ephemeral container stays in its pod. */
export async function debugOffer(api: CallApi, target: string, signal: AbortSignal): Promise<DebugOffer> {
  const { spec } = (await api.read(target, 'application/json', signal)) as PodFields
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec ?? {}
  const taken = new Set([...containers, ...initContainers, ...ephemeralContainers].map(({ name }) => name))
  let number = 1
  while (taken.has(nameOf(number))) number++
  return { name: nameOf(number), targets: containers.map(({ name }) => name) }
}

const nameOf = (number: number): string => `debugger-${number}`

/** The container of kubectl's profile `general`, which may trace processes. */
export async function addDebugContainer(
  api: CallApi,
  pod: string,
  { name, image, target }: DebugChoice & Pick<DebugOffer, 'name'>,
  signal: AbortSignal,
): Promise<void> {
  const container = {
    name,
    image,
    stdin: true,
    tty: true,
    terminationMessagePolicy: 'File',
    securityContext: { capabilities: { add: ['SYS_PTRACE'] } },
    ...(target === '' ? {} : { targetContainerName: target }),
  }
  const patch = { spec: { ephemeralContainers: [container] } }
  await api.patch(`${pod}/ephemeralcontainers`, strategicMergePatch, patch, signal)
}
