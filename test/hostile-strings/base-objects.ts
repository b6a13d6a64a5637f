// Valid objects with many fields. Names, uids and addresses follow from a number.
import { configMap } from '../../src/api/core/v1/config-map.ts'
import { namespace } from '../../src/api/core/v1/namespace.ts'
import { node } from '../../src/api/core/v1/node/node.ts'
import { persistentVolumeClaim } from '../../src/api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../src/api/core/v1/volume/persistent-volume.ts'
import { pod } from '../../src/api/core/v1/pod/pod.ts'
import { secret } from '../../src/api/core/v1/secret.ts'
import { service } from '../../src/api/core/v1/service/service.ts'
import { endpointSlice } from '../../src/api/discovery/v1/endpoint-slice.ts'
import { networkPolicy } from '../../src/api/networking/v1/network-policy.ts'
import type { Kind } from '../../src/api/kind/kind.ts'
import type { ApiObject } from '../../src/api/meta/object.ts'
import { decode } from '../../src/schema/decoding/decode.ts'
import { withDefaults } from '../../src/schema/decoding/defaults.ts'
import type { BaseObject } from './variants.ts'

export const nodeName = 'node-0'
const space = 'default'

/** The object as the API server would store it. */
export function stored<T extends ApiObject>(kind: Kind<T>, name: string, index: number, rest: object): T {
  const { metadata, ...parts } = rest as { readonly metadata?: object }
  const sent = {
    metadata: {
      name,
      uid: `uid-${index}`,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2030-01-01T00:00:00Z',
      ...(kind.namespaced ? { namespace: space } : {}),
      labels: { app: 'web' },
      annotations: { note: 'x' },
      ...metadata,
    },
    ...parts,
  }
  const complete = kind.applyDefaults(withDefaults(kind.message, decode(kind.message, sent).value as unknown as T))
  return { ...complete, apiVersion: kind.apiVersion, kind: kind.kind }
}

const low = (index: number): string => `${Math.floor(index / 250) % 250}.${(index % 250) + 1}`

export const nodeOf: BaseObject = (index) =>
  stored(node, `node-${index}`, index, {
    spec: { podCIDR: `10.213.${index % 250}.0/24`, podCIDRs: [`10.213.${index % 250}.0/24`] },
    status: {
      addresses: [
        { type: 'InternalIP', address: `198.18.${low(index)}` },
        { type: 'Hostname', address: `node-${index}` },
      ],
    },
  })

export const namespaceOf: BaseObject = (index) =>
  stored(namespace, index === 0 ? space : `space-${index}`, index, { metadata: { labels: { team: 'a' } } })

export const serviceOf: BaseObject = (index) =>
  stored(service, `web-${index}`, index, {
    spec: {
      type: 'LoadBalancer',
      clusterIP: `10.96.${low(index)}`,
      clusterIPs: [`10.96.${low(index)}`],
      ports: [
        { name: 'http', port: 80, targetPort: 8080, nodePort: 30_000 + (index % 2_000), protocol: 'TCP' },
        { name: 'dns', port: 53, targetPort: 53, nodePort: 32_000 + (index % 700), protocol: 'UDP' },
      ],
      externalIPs: [`198.51.${low(index)}`],
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 31_000 + (index % 900),
      sessionAffinity: 'ClientIP',
      loadBalancerSourceRanges: ['10.0.0.0/8'],
      selector: { app: 'web' },
    },
    status: { loadBalancer: { ingress: [{ ip: `203.0.${low(index)}`, hostname: 'lb.example' }] } },
  })

/** The endpoints of the Service with the same number. */
export const endpointSliceOf: BaseObject = (index) =>
  stored(endpointSlice, `web-${index}-a`, index, {
    metadata: { labels: { 'kubernetes.io/service-name': `web-${index}` } },
    addressType: 'IPv4',
    endpoints: [
      {
        addresses: [`10.213.${low(index)}`],
        conditions: { ready: true, serving: true },
        hostname: `web-${index}`,
        nodeName,
        zone: 'a',
        targetRef: { kind: 'Pod', namespace: space, name: `pod-${index}` },
      },
    ],
    ports: [
      { name: 'http', port: 8080, protocol: 'TCP' },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ],
  })

const peers = [
  { ipBlock: { cidr: '10.1.0.0/16', except: ['10.1.2.0/24'] } },
  {
    namespaceSelector: {
      matchLabels: { team: 'a' },
      matchExpressions: [{ key: 'team', operator: 'In', values: ['a'] }],
    },
    podSelector: { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'app', operator: 'In', values: ['web'] }] },
  },
]

export const networkPolicyOf: BaseObject = (index) =>
  stored(networkPolicy, `policy-${index}`, index, {
    spec: {
      podSelector: { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'app', operator: 'Exists' }] },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ from: peers, ports: [{ port: 80, endPort: 90, protocol: 'TCP' }, { port: 'http' }] }],
      egress: [{ to: peers, ports: [{ port: 53, protocol: 'UDP' }] }],
    },
  })

export const configMapOf: BaseObject = (index) =>
  stored(configMap, index === 0 ? 'settings' : `settings-${index}`, index, {
    data: { key: 'value', more: 'x' },
    binaryData: { bytes: 'AAEC' },
  })

export const secretOf: BaseObject = (index) =>
  stored(secret, index === 0 ? 'keys' : `keys-${index}`, index, {
    type: 'Opaque',
    data: { key: 'dmFsdWU=', '.dockerconfigjson': 'e30=' },
  })

const handler = (path: string) => ({
  httpGet: { path, port: 'http', scheme: 'HTTP', host: '', httpHeaders: [{ name: 'X-Key', value: 'v' }] },
})
const container = (name: string, index: number) => ({
  name,
  image: 'app',
  command: ['run', '$(FIRST)'],
  args: ['$(FIRST)'],
  workingDir: '/work',
  imagePullPolicy: 'Always',
  ports: [
    { name: 'http', containerPort: 8080, hostPort: 20_000 + (index % 5_000), hostIP: '198.18.0.1', protocol: 'TCP' },
  ],
  env: [
    { name: 'FIRST', value: 'a' },
    { name: 'FIELD', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: "metadata.labels['app']" } } },
    { name: 'LIMIT', valueFrom: { resourceFieldRef: { containerName: name, resource: 'limits.cpu', divisor: '1' } } },
    { name: 'KEY', valueFrom: { configMapKeyRef: { name: 'settings', key: 'key' } } },
    { name: 'SECRET', valueFrom: { secretKeyRef: { name: 'keys', key: 'key' } } },
  ],
  envFrom: [{ prefix: 'P_', configMapRef: { name: 'settings' } }, { secretRef: { name: 'keys' } }],
  resources: { limits: { cpu: '1', memory: '64Mi' }, requests: { cpu: '1m', memory: '1Mi' } },
  volumeMounts: [
    ...['config', 'secret', 'projected', 'fields', 'host', 'claim', 'nfs', 'image'].map((volume) => ({
      name: volume,
      mountPath: `/in/${volume}`,
      readOnly: true,
    })),
    { name: 'empty', mountPath: '/in/empty', subPath: 'sub' },
    { name: 'empty', mountPath: '/in/expr', subPathExpr: '$(FIRST)' },
  ],
  securityContext: { seLinuxOptions: { level: 's0' }, seccompProfile: { type: 'RuntimeDefault' } },
})

export const podOf: BaseObject = (index) =>
  stored(pod, `pod-${index}`, index, {
    metadata: { annotations: { note: 'x' } },
    spec: {
      nodeName,
      restartPolicy: 'Always',
      serviceAccountName: 'default',
      hostname: 'h',
      subdomain: 's',
      initContainers: [{ ...container('first', index), image: 'once' }],
      containers: [
        {
          ...container('app', index),
          livenessProbe: handler('/live'),
          readinessProbe: handler('/ready'),
          startupProbe: handler('/started'),
          lifecycle: { postStart: handler('/post'), preStop: handler('/pre') },
        },
        { ...container('grpc', index), livenessProbe: { grpc: { port: 90, service: 's' } } },
        {
          ...container('commands', index),
          livenessProbe: { exec: { command: ['ok'] } },
          readinessProbe: { tcpSocket: { port: 8080, host: '' } },
          lifecycle: { postStart: { exec: { command: ['ok'] } } },
        },
      ],
      volumes: [
        { name: 'config', configMap: { name: 'settings', items: [{ key: 'key', path: 'dir/key' }] } },
        { name: 'secret', secret: { secretName: 'keys', items: [{ key: 'key', path: 'dir/key' }] } },
        {
          name: 'projected',
          projected: {
            sources: [
              { configMap: { name: 'settings', items: [{ key: 'key', path: 'a' }] } },
              { secret: { name: 'keys', items: [{ key: 'key', path: 'b' }] } },
              { downwardAPI: { items: [{ path: 'c', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } }] } },
              { serviceAccountToken: { path: 'd', audience: 'api', expirationSeconds: 3600 } },
            ],
          },
        },
        {
          name: 'fields',
          downwardAPI: {
            items: [
              { path: 'a', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.annotations' } },
              { path: 'b', resourceFieldRef: { containerName: 'app', resource: 'limits.cpu', divisor: '1' } },
            ],
          },
        },
        { name: 'host', hostPath: { path: '/srv', type: 'DirectoryOrCreate' } },
        { name: 'claim', persistentVolumeClaim: { claimName: 'claim' } },
        { name: 'nfs', nfs: { server: 'nfs.example', path: '/export' } },
        { name: 'image', image: { reference: 'files', pullPolicy: 'Always' } },
        { name: 'empty', emptyDir: { medium: '', sizeLimit: '1Mi' } },
      ],
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['10.96.0.10'], searches: ['example'], options: [{ name: 'ndots', value: '2' }] },
      hostAliases: [{ ip: '10.1.0.1', hostnames: ['alias'] }],
      imagePullSecrets: [{ name: 'keys' }],
      securityContext: { sysctls: [{ name: 'kernel.shm_rmid_forced', value: '0' }] },
      tolerations: [{ operator: 'Exists' }],
    },
    status: {
      phase: 'Pending',
      podIP: `10.213.${low(index)}`,
      podIPs: [{ ip: `10.213.${low(index)}` }],
      qosClass: 'Burstable',
      hostIP: '198.18.0.1',
      hostIPs: [{ ip: '198.18.0.1' }],
    },
  })

export const claimOf: BaseObject = (index) =>
  stored(persistentVolumeClaim, index === 0 ? 'claim' : `claim-${index}`, index, {
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'local-path',
      volumeMode: 'Filesystem',
      volumeName: index === 0 ? 'volume' : `volume-${index}`,
      resources: { requests: { storage: '1Gi' } },
    },
    status: { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } },
  })

/** A volume of the claim with the same number. */
export const volumeOf: BaseObject = (index) =>
  stored(persistentVolume, index === 0 ? 'volume' : `volume-${index}`, index, {
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      storageClassName: 'local-path',
      persistentVolumeReclaimPolicy: 'Delete',
      volumeMode: 'Filesystem',
      mountOptions: ['ro'],
      claimRef: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        namespace: space,
        name: index === 0 ? 'claim' : `claim-${index}`,
        uid: `uid-${index}`,
      },
      nfs: { server: 'nfs.example', path: '/export' },
    },
    status: { phase: 'Bound' },
  })

/** A pod that mounts the claim with the same number and uses the objects of this number. */
export const userOf: BaseObject = (index) =>
  stored(pod, `user-${index}`, index, {
    spec: {
      nodeName,
      serviceAccountName: 'default',
      containers: [
        {
          name: 'app',
          image: 'app',
          envFrom: [
            { configMapRef: { name: `settings-${index}`, optional: true } },
            { secretRef: { name: `keys-${index}`, optional: true } },
          ],
          volumeMounts: ['claim', 'config', 'secret'].map((name) => ({ name, mountPath: `/in/${name}` })),
        },
      ],
      volumes: [
        { name: 'claim', persistentVolumeClaim: { claimName: `claim-${index}` } },
        { name: 'config', configMap: { name: `settings-${index}`, optional: true } },
        { name: 'secret', secret: { secretName: `keys-${index}`, optional: true } },
      ],
    },
  })
