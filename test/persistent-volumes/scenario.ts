// The scenarios of the differential test of volumes and claims: steps, and builders of the objects in them.
import { persistentVolumeClaim } from '../../src/api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../src/api/core/v1/volume/persistent-volume.ts'
import { pod } from '../../src/api/core/v1/pod/pod.ts'
import type { Kind } from '../../src/api/kind/kind.ts'
import { storageClass } from '../../src/api/storage/v1/storage-class.ts'
import { volumeAttributesClass } from '../../src/api/storage/v1/volume-attributes-class.ts'

export const kindsUsed = {
  pod,
  claim: persistentVolumeClaim,
  volume: persistentVolume,
  class: storageClass,
  attributes: volumeAttributesClass,
} as unknown as Readonly<Record<KindName, Kind>>

export type KindName = 'pod' | 'claim' | 'volume' | 'class' | 'attributes'

export interface Made {
  readonly of: KindName
  readonly object: { readonly metadata: { readonly name: string } }
}

export type Step =
  | { readonly kind: 'create'; readonly objects: readonly Made[] }
  | { readonly kind: 'delete'; readonly of: KindName; readonly name: string }
  | {
      readonly kind: 'patch'
      readonly of: KindName
      readonly name: string
      readonly patch: object
      readonly subresource?: 'status'
    }

/** The state is recorded after each step, once nothing changes any more. */
export interface Scenario {
  readonly name: string
  readonly steps: readonly Step[]
}

export const scenario = (name: string, ...steps: readonly Step[]): Scenario => ({ name, steps })

export const create = (...objects: readonly Made[]): Step => ({ kind: 'create', objects })
export const remove = (of: KindName, name: string): Step => ({ kind: 'delete', of, name })
export const patch = (of: KindName, name: string, change: object): Step => ({ kind: 'patch', of, name, patch: change })
export const patchStatus = (of: KindName, name: string, status: object): Step => ({
  kind: 'patch',
  of,
  name,
  subresource: 'status',
  patch: { status },
})

type Metadata = Readonly<Record<string, unknown>>

const sources = ['awsElasticBlockStore', 'csi', 'hostPath', 'iscsi', 'local', 'nfs']

export const volume = (name: string, spec: object = {}, metadata: Metadata = {}): Made => ({
  of: 'volume',
  object: {
    metadata: { name, ...metadata },
    spec: {
      capacity: { storage: '5Gi' },
      accessModes: ['ReadWriteOnce'],
      ...(sources.some((source) => source in spec) ? {} : { hostPath: { path: `/srv/${name}` } }),
      ...spec,
    },
  } as Made['object'],
})

/** Without a class, unless the spec names one. */
export const claim = (name: string, spec: object = {}, metadata: Metadata = {}): Made => ({
  of: 'claim',
  object: {
    metadata: { name, ...metadata },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: '',
      ...spec,
    },
  } as Made['object'],
})

export const size = (storage: string) => ({ resources: { requests: { storage } } })

export const aClass = (name: string, provisioner: string, rest: object = {}, metadata: Metadata = {}): Made => ({
  of: 'class',
  object: { metadata: { name, ...metadata }, provisioner, ...rest } as Made['object'],
})

export const aPod = (name: string, volumes: readonly object[], spec: object = {}): Made => ({
  of: 'pod',
  object: { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }], volumes, ...spec } } as Made['object'],
})

export const csi = (handle: string) => ({ csi: { driver: 'csi.example.com', volumeHandle: handle } })
export const claimRef = (name: string, rest: object = {}) => ({ claimRef: { namespace: 'default', name, ...rest } })
export const defaultClass: Metadata = { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } }
export const provisionedBy = (provisioner: string, rest: Metadata = {}): Metadata => ({
  annotations: { 'pv.kubernetes.io/provisioned-by': provisioner },
  ...rest,
})
