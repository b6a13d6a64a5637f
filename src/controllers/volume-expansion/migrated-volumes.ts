// The volume types of the Kubernetes source tree that CSI drivers have replaced.
import type { PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'

interface Replacement {
  /** The name of the former plugin. */
  readonly plugin: string
  readonly driver: string
}

const replacements = {
  awsElasticBlockStore: { plugin: 'kubernetes.io/aws-ebs', driver: 'ebs.csi.aws.com' },
  azureDisk: { plugin: 'kubernetes.io/azure-disk', driver: 'disk.csi.azure.com' },
  azureFile: { plugin: 'kubernetes.io/azure-file', driver: 'file.csi.azure.com' },
  cinder: { plugin: 'kubernetes.io/cinder', driver: 'cinder.csi.openstack.org' },
  gcePersistentDisk: { plugin: 'kubernetes.io/gce-pd', driver: 'pd.csi.storage.gke.io' },
  portworxVolume: { plugin: 'kubernetes.io/portworx-volume', driver: 'pxd.portworx.com' },
  vsphereVolume: { plugin: 'kubernetes.io/vsphere-volume', driver: 'csi.vsphere.vmware.com' },
} as const satisfies Partial<Record<keyof PersistentVolume['spec'], Replacement>>

export function replacementOf({ spec }: PersistentVolume): Replacement | undefined {
  const types = Object.keys(replacements) as (keyof typeof replacements)[]
  const type = types.find((each) => spec[each] !== undefined)
  return type === undefined ? undefined : replacements[type]
}
