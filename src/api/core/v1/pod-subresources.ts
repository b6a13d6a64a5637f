// The subresources of a Pod: its parts, what is done to it, and the streams into its containers.
import { eviction } from '../../policy/v1/eviction.ts'
import { partVerbs, proxySubresource, type Subresource } from '../../subresource.ts'
import { binding } from './binding.ts'
import { podAttachOptions, podExecOptions, podPortForwardOptions, podProxyOptions } from './connect-options.ts'

const streams = { container: 'string', stderr: 'boolean', stdin: 'boolean', stdout: 'boolean', tty: 'boolean' } as const
const options = (kind: string) => ({ group: '', version: 'v1', kind })
const streamVerbs = ['create', 'get'] as const

export const podSubresources: readonly Subresource[] = [
  {
    name: 'attach',
    verbs: streamVerbs,
    answer: options('PodAttachOptions'),
    options: podAttachOptions,
    isStream: true,
    parameters: streams,
  },
  { name: 'binding', verbs: ['create'], answer: options('Binding'), body: binding },
  { name: 'ephemeralcontainers', verbs: partVerbs },
  {
    name: 'eviction',
    verbs: ['create'],
    answer: { group: 'policy', version: 'v1', kind: 'Eviction' },
    body: eviction,
  },
  {
    name: 'exec',
    verbs: streamVerbs,
    answer: options('PodExecOptions'),
    options: podExecOptions,
    isStream: true,
    parameters: { ...streams, command: 'string' },
  },
  {
    name: 'log',
    verbs: ['get'],
    isStream: true,
    parameters: {
      container: 'string',
      follow: 'boolean',
      insecureSkipTLSVerifyBackend: 'boolean',
      limitBytes: 'integer',
      previous: 'boolean',
      sinceSeconds: 'integer',
      stream: 'string',
      tailLines: 'integer',
      timestamps: 'boolean',
    },
  },
  {
    name: 'portforward',
    verbs: streamVerbs,
    answer: options('PodPortForwardOptions'),
    options: podPortForwardOptions,
    isStream: true,
    parameters: { ports: 'integer' },
  },
  proxySubresource(podProxyOptions),
  { name: 'resize', verbs: partVerbs },
]
