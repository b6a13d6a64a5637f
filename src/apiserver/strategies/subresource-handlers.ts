// Every subresource that a kind handles itself, by kind and name.
import { node } from '../../api/core/v1/node/node.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { service } from '../../api/core/v1/service/service.ts'
import type { SubresourceHandler } from '../registry/subresources/subresource-handler.ts'
import { evictionHandler } from './pod/eviction-subresource.ts'
import { podStreamHandler } from './pod/pod-streams.ts'
import { nodeProxy, podProxy, serviceProxy } from './proxy/proxy-subresource.ts'

export const subresourceHandlers: readonly SubresourceHandler[] = [
  { kind: node, subresource: 'proxy', handle: nodeProxy },
  podStreamHandler('attach'),
  evictionHandler,
  podStreamHandler('exec'),
  podStreamHandler('log'),
  podStreamHandler('portforward'),
  { kind: pod, subresource: 'proxy', handle: podProxy },
  { kind: service, subresource: 'proxy', handle: serviceProxy },
]
