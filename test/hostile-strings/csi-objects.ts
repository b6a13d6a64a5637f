// Valid objects with volumes of a storage driver. Names, uids and handles follow from a number.
import { node } from '../../src/api/core/v1/node/node.ts'
import { pod } from '../../src/api/core/v1/pod/pod.ts'
import { persistentVolumeClaim } from '../../src/api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../src/api/core/v1/volume/persistent-volume.ts'
import { csiDriver } from '../../src/api/storage/v1/csi-driver.ts'
import { csiNode } from '../../src/api/storage/v1/csi-node.ts'
import { storageClass } from '../../src/api/storage/v1/storage-class.ts'
import { volumeAttachment } from '../../src/api/storage/v1/volume-attachment.ts'
import { nodeName, stored } from './base-objects.ts'
import type { BaseObject } from './variants.ts'

/** The name of the driver in a test of a kubelet, and of the sidecars. */
export const driverName = 'fake.csi'
export const controllerDriverName = 'csi.coxswain.dev'

const secretRef = { name: 'keys', namespace: 'default' }
const access = { accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem' }

export const csiDriverOf: BaseObject = (index) =>
  stored(csiDriver, index === 0 ? driverName : `driver-${index}`, index, {
    spec: {
      attachRequired: false,
      podInfoOnMount: true,
      volumeLifecycleModes: ['Persistent', 'Ephemeral'],
      fsGroupPolicy: 'File',
      tokenRequests: [{ audience: 'vault', expirationSeconds: 3600 }],
    },
  })

/** A pod with an inline volume and the claim with the same number. */
export const csiPodOf: BaseObject = (index) =>
  stored(pod, `csi-${index}`, index, {
    spec: {
      nodeName,
      serviceAccountName: 'default',
      securityContext: { fsGroup: 77 },
      containers: [
        {
          name: 'app',
          image: 'app',
          volumeMounts: ['inline', 'claim'].map((name) => ({ name, mountPath: `/in/${name}`, subPath: 'sub' })),
        },
      ],
      volumes: [
        {
          name: 'inline',
          csi: {
            driver: driverName,
            fsType: 'ext4',
            volumeAttributes: { a: 'b' },
            nodePublishSecretRef: { name: 'keys' },
          },
        },
        { name: 'claim', persistentVolumeClaim: { claimName: `claim-${index}` } },
      ],
    },
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  })

const claimSpec = { ...access, storageClassName: 'csi', resources: { requests: { storage: '1Gi' } } }

export const csiClaimOf: BaseObject = (index) =>
  stored(persistentVolumeClaim, `claim-${index}`, index, {
    spec: { ...claimSpec, volumeName: `volume-${index}` },
    status: { phase: 'Bound', accessModes: access.accessModes, capacity: { storage: '1Gi' } },
  })

/** A claim that waits for a volume of the driver. */
export const pendingClaimOf: BaseObject = (index) =>
  stored(persistentVolumeClaim, `claim-${index}`, index, {
    metadata: {
      annotations: {
        'volume.kubernetes.io/storage-provisioner': controllerDriverName,
        'volume.kubernetes.io/selected-node': nodeName,
      },
    },
    spec: { ...claimSpec, storageClassName: index === 0 ? 'csi' : `class-${index}` },
    status: { phase: 'Pending' },
  })

const csiVolume =
  (driver: string): BaseObject =>
  (index) =>
    stored(persistentVolume, `volume-${index}`, index, {
      spec: {
        ...access,
        capacity: { storage: '1Gi' },
        storageClassName: 'csi',
        mountOptions: ['noatime'],
        persistentVolumeReclaimPolicy: 'Delete',
        claimRef: {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          namespace: 'default',
          name: `claim-${index}`,
          uid: `uid-${index}`,
        },
        csi: {
          driver,
          volumeHandle: `handle-${index}`,
          fsType: 'ext4',
          volumeAttributes: { color: 'red' },
          nodeStageSecretRef: secretRef,
          nodePublishSecretRef: secretRef,
          nodeExpandSecretRef: secretRef,
          controllerPublishSecretRef: secretRef,
          controllerExpandSecretRef: secretRef,
        },
      },
      status: { phase: 'Bound' },
    })

export const csiVolumeOf: BaseObject = csiVolume(driverName)
/** A volume of the driver of the sidecars. */
export const controllerVolumeOf: BaseObject = csiVolume(controllerDriverName)

export const storageClassOf: BaseObject = (index) =>
  stored(storageClass, index === 0 ? 'csi' : `class-${index}`, index, {
    provisioner: controllerDriverName,
    parameters: {
      'csi.storage.k8s.io/fstype': 'ext4',
      'csi.storage.k8s.io/provisioner-secret-name': 'keys',
      'csi.storage.k8s.io/provisioner-secret-namespace': 'default',
      color: 'red',
    },
    mountOptions: ['noatime'],
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'Immediate',
    allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['a'] }] }],
  })

export const volumeAttachmentOf: BaseObject = (index) =>
  stored(volumeAttachment, `attachment-${index}`, index, {
    spec: { attacher: controllerDriverName, nodeName, source: { persistentVolumeName: `volume-${index}` } },
    status: { attached: false },
  })

export const csiNodeOf: BaseObject = (index) =>
  stored(csiNode, index === 0 ? nodeName : `node-${index}`, index, {
    spec: { drivers: [{ name: controllerDriverName, nodeID: `id-${index}`, topologyKeys: ['zone'] }] },
  })

export const zonedNodeOf: BaseObject = (index) =>
  stored(node, `node-${index}`, index, { metadata: { labels: { zone: 'a' } } })
