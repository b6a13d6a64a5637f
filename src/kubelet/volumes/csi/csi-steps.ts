// Which calls a volume needs, as a pure decision: desired against actual.

export interface DesiredVolume {
  /** The volume must be attached to the node by the attach/detach controller. */
  readonly needsAttachment: boolean
  /** The volume outlives the pod, so it is recorded and, if the driver supports that, staged once per node. */
  readonly isPersistent: boolean
  /** The driver stages volumes; it then expands the staged volume. */
  readonly isStaged: boolean
  /** The volume has grown, and its file system has not. */
  readonly needsExpansion: boolean
  /** The driver requires that a published volume is published again, with new tokens. */
  readonly republishes: boolean
}

export interface ActualVolume {
  readonly isStaged: boolean
  readonly isPublished: boolean
}

export type CsiStep =
  | { readonly kind: 'wait-for-attachment' }
  | { readonly kind: 'stage' }
  /** `at`: the path that the driver gets. */
  | { readonly kind: 'expand'; readonly at: 'staging' | 'target' }
  | { readonly kind: 'publish' }

/** The steps until the volume can be used by the pod, in order. */
export function mountSteps(desired: DesiredVolume, actual: ActualVolume): readonly CsiStep[] {
  if (actual.isPublished)
    return [
      ...(desired.republishes ? ([{ kind: 'publish' }] as const) : []),
      ...(desired.needsExpansion ? ([{ kind: 'expand', at: 'target' }] as const) : []),
    ]
  const expand = (at: 'staging' | 'target'): readonly CsiStep[] =>
    desired.needsExpansion && desired.isStaged === (at === 'staging') ? [{ kind: 'expand', at }] : []
  return [
    ...(desired.needsAttachment ? ([{ kind: 'wait-for-attachment' }] as const) : []),
    ...(desired.isPersistent && !actual.isStaged ? ([{ kind: 'stage' }] as const) : []),
    ...expand('staging'),
    { kind: 'publish' },
    ...expand('target'),
  ]
}

export interface StagedVolume {
  /** Pods for which it is, or may be, published. */
  readonly publications: number
  /** Pods that need it, also if it could not be published yet. */
  readonly users: number
}

/** Whether nothing on the node uses the staged volume. */
export const isUnused = ({ publications, users }: StagedVolume): boolean => publications === 0 && users === 0
