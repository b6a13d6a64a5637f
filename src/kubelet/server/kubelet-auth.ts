// Who may ask the kubelet what: every request is of a user, and each path is a part of the node to be authorized for.
import { lookup } from '../../base/collections/lookup.ts'
import { methodVerbs } from '../../api/kind/method-verbs.ts'
import type { WireRequest } from '../../platform/http/listener.ts'
import { KubeletHttpError } from './kubelet-host.ts'

export interface KubeletUser {
  readonly name: string
  readonly groups: readonly string[]
}

export interface KubeletAuth {
  /** Whose token it is; undefined when nobody's. */
  authenticateToken(token: string, signal: AbortSignal): Promise<KubeletUser | undefined>
  /** Whether the user may do that with `nodes/<subresource>` of this node. */
  authorize(user: KubeletUser, verb: string, subresource: string, signal: AbortSignal): Promise<boolean>
}

/** Paths with a part of their own; whoever may have all of the node may have these too. */
const subresources: Readonly<Record<string, string>> = {
  configz: 'configz',
  healthz: 'healthz',
  logs: 'log',
  metrics: 'metrics',
  pods: 'pods',
  runningpods: 'pods',
  stats: 'stats',
}
const everything = 'proxy'

export async function authorizeRequest(
  request: WireRequest,
  path: readonly string[],
  access: KubeletAuth,
): Promise<void> {
  const user = await userOf(request, access)
  if (user === undefined) throw new KubeletHttpError(401, 'Unauthorized')
  const verb = lookup(methodVerbs, request.method) ?? ''
  const asked = [...new Set([lookup(subresources, path[0] ?? '') ?? everything, everything])]
  for (const subresource of asked) if (await access.authorize(user, verb, subresource, request.signal)) return
  throw new KubeletHttpError(
    403,
    `Forbidden (user=${user.name}, verb=${verb}, resource=nodes, subresource(s)=[${asked.join(' ')}])\n`,
  )
}

async function userOf(
  { certificate, headers, signal }: WireRequest,
  access: KubeletAuth,
): Promise<KubeletUser | undefined> {
  if (certificate?.authority === 'users') return { name: certificate.commonName, groups: certificate.organizations }
  const token = /^bearer\s+(\S.*)$/i.exec(headers['authorization'] ?? '')?.[1]
  return token === undefined ? undefined : access.authenticateToken(token, signal)
}
