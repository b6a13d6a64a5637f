// The specs beside the conformance specs that this machine can run: those of these SIGs, without those that need
// something that is not there.

export const otherSigs = [
  'api-machinery',
  'apps',
  'auth',
  'cli',
  'instrumentation',
  'network',
  'node',
  'scheduling',
  'storage',
] as const

interface Exclusion {
  readonly pattern: RegExp
  /** What these specs need. */
  readonly needs: string
}

export const exclusions: readonly Exclusion[] = [
  // The suite leaves these out as well if it gets no focus.
  { pattern: /\[Feature:/, needs: 'a feature gate that is off by default, or a special environment' },
  { pattern: /\[Flaky\]/, needs: 'several attempts' },
  {
    pattern: /\[Driver: (azure-disk|azure-file|cinder|pd\.csi\.storage\.gke\.io|vsphere)\]|gce-localssd/,
    needs: 'a cloud',
  },
  {
    pattern: /\[Driver: nfs3?\]|NFS/,
    needs: 'an NFS server, which is a part of the kernel and is not available in containers here',
  },
  {
    pattern: /\[Driver: csi-hostpath\]|CSI Mock|MutableCSINodeAllocatableCount|\[DRA\] control plane/,
    needs: 'images of CSI sidecars and drivers, whose executables neither the suite nor Debian contains',
  },
  { pattern: /AppArmor/, needs: 'a kernel with AppArmor' },
]

/** Whether a spec without [Conformance] is one of them. */
export const isOtherSpec = (name: string): boolean =>
  otherSigs.some((sig) => name.includes(`[sig-${sig}]`)) &&
  !name.includes('[Conformance]') &&
  exclusions.every(({ pattern }) => !pattern.test(name))
