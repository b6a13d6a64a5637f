// The interface of a check of the pod security standards, and the texts of violations.
import type { Container, EphemeralContainer } from '../../../../api/core/v1/container/container.ts'
import type { ObjectMeta } from '../../../../api/meta/v1/object-meta.ts'
import type { PodSpec } from '../../../../api/core/v1/pod-spec/pod-spec.ts'

export interface CheckedPod {
  readonly metadata: Pick<ObjectMeta, 'annotations'>
  readonly spec: PodSpec
  /** All containers of the pod: init, regular, ephemeral. */
  readonly containers: readonly AnyContainer[]
}

export type AnyContainer = Container | EphemeralContainer

export interface Violation {
  readonly reason: string
  readonly detail: string
}

export interface Check {
  /** Violations are reported in the order of ids. */
  readonly id: string
  /** The first minor version of the standard with this check. */
  readonly since?: number
  /** Checks of a lower level that this one includes. */
  readonly replaces?: readonly string[]
  check(pod: CheckedPod, minor: number): Violation | undefined
}

/** The level `privileged` has no checks, so the list of all containers is made when it is first read. */
export function checkedPod(metadata: CheckedPod['metadata'], spec: PodSpec): CheckedPod {
  let containers: readonly AnyContainer[] | undefined
  const { initContainers = [], ephemeralContainers = [] } = spec
  return {
    metadata,
    spec,
    get containers() {
      return (containers ??= [...initContainers, ...spec.containers, ...ephemeralContainers])
    },
  }
}

export const quoted = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(', ')

/** `container "a"` or `containers "a", "b"`. */
export const containersText = (found: readonly { readonly name: string }[]): string =>
  `${found.length === 1 ? 'container' : 'containers'} ${quoted(found.map(({ name }) => name))}`

/** The pod and the containers that violate a rule: `pod and container "a"`. */
export const settersText = (isPod: boolean, found: readonly { readonly name: string }[]): string =>
  [...(isPod ? ['pod'] : []), ...(found.length === 0 ? [] : [containersText(found)])].join(' and ')

export const isWindows = ({ os }: PodSpec): boolean => os?.name === 'windows'
