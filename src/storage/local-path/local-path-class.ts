// The StorageClass `local-path`: claims get a directory of the node on which their first pod runs.
import type { StorageClassInput } from '../../api/storage/v1/storage-class.ts'

export const localPathProvisionerName = 'coxswain.dev/local-path'

export const localPathClass = (allowVolumeExpansion: boolean): StorageClassInput & { metadata: { name: string } } => ({
  metadata: { name: 'local-path', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: localPathProvisionerName,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'WaitForFirstConsumer',
  allowVolumeExpansion,
})
