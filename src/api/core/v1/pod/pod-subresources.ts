// The subresources of a Pod: parts of it, actions on it, and streams to its containers.
import { eviction } from '../../../policy/v1/eviction.ts'
import { readWriteVerbs, proxySubresource, type Subresource } from '../../../kind/subresource.ts'
import { bindingMessage } from '../binding.ts'
import { podAttachOptions, podExecOptions, podPortForwardOptions, podProxyOptions } from '../connect-options.ts'

const streams = { container: 'string', stderr: 'boolean', stdin: 'boolean', stdout: 'boolean', tty: 'boolean' } as const
const options = (kind: string) => ({ group: '', version: 'v1', kind })
const streamVerbs = ['create', 'get'] as const

export const podSubresources: readonly Subresource[] = [
  {
    name: 'attach',
    verbs: streamVerbs,
    response: options('PodAttachOptions'),
    options: podAttachOptions,
    isStream: true,
    parameters: streams,
  },
  { name: 'binding', verbs: ['create'], response: options('Binding'), body: bindingMessage },
  { name: 'ephemeralcontainers', verbs: readWriteVerbs },
  {
    name: 'eviction',
    verbs: ['create'],
    response: { group: 'policy', version: 'v1', kind: 'Eviction' },
    body: eviction,
  },
  {
    name: 'exec',
    verbs: streamVerbs,
    response: options('PodExecOptions'),
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
    response: options('PodPortForwardOptions'),
    options: podPortForwardOptions,
    isStream: true,
    parameters: { ports: 'integer' },
  },
  proxySubresource(podProxyOptions),
  { name: 'resize', verbs: readWriteVerbs },
]
