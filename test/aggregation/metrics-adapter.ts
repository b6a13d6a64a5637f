// An adapter for custom and external metrics in its own process. As real ones, it delegates: the front proxy names the user,
// which counts only with a certificate of the CA in extension-apiserver-authentication, and the API server authorizes.
//   node metrics-adapter.ts <file with AdapterOptions>
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { realClock, rfc3339 } from '../../src/base/time/clock.ts'
import { parseKubeconfig } from '../../src/pki/kubeconfig.ts'
import { wireClient } from '../custom-resources/wire-client.ts'

export interface AdapterOptions {
  readonly kubeconfig: string
  readonly host: string
  readonly port: number
  readonly certificate: string
  readonly key: string
  /** The value for each pod, for each object, and of each external series. */
  readonly values: { readonly pod: string; readonly object: string; readonly external: readonly string[] }
}

interface Authentication {
  readonly 'requestheader-client-ca-file': string
  readonly 'requestheader-username-headers': string
  readonly 'requestheader-group-headers': string
  readonly 'requestheader-allowed-names': string
}

const [file = ''] = process.argv.slice(2)
const { kubeconfig, host, port, certificate, key, values } = JSON.parse(readFileSync(file, 'utf8')) as AdapterOptions
const access = parseKubeconfig(kubeconfig)
const api = wireClient({ origin: access.server, tls: { authority: access.authority, ...access.identity } })
const call = (method: string, path: string, body?: object) =>
  api.send({
    method,
    path,
    events: undefined,
    body: body && JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })

const { body: map } = await call('GET', '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication')
const authentication = (map as { readonly data: Authentication }).data
const names = (field: keyof Authentication) => JSON.parse(authentication[field]) as readonly string[]

interface Response {
  readonly status: number
  readonly body: object
}

const failure = (status: number, message: string): Response => ({
  status,
  body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, message },
})

/** The user whom the front proxy names; undefined where the caller is not the front proxy. */
function userOf({ headers, socket }: IncomingMessage): { user: string; groups: readonly string[] } | undefined {
  const { authorized } = socket as TLSSocket
  const caller = [(socket as TLSSocket).getPeerCertificate().subject?.CN ?? ''].flat()[0] ?? ''
  const allowed = names('requestheader-allowed-names')
  if (!authorized || (allowed.length > 0 && !allowed.includes(caller))) return undefined
  const valuesOf = (field: keyof Authentication) =>
    names(field).flatMap((name) => [headers[name.toLowerCase()] ?? []].flat().flatMap((each) => each.split(', ')))
  const [user] = valuesOf('requestheader-username-headers')
  return user === undefined ? undefined : { user, groups: valuesOf('requestheader-group-headers') }
}

async function respond(request: IncomingMessage): Promise<Response> {
  const url = new URL(request.url ?? '', 'https://adapter')
  const [, , group = '', version = '', , namespace = '', ...rest] = url.pathname.split('/').map(decodeURIComponent)
  const found = userOf(request)
  if (found === undefined) return failure(401, 'Unauthorized')
  if (namespace === '')
    return { status: 200, body: { kind: 'APIResourceList', groupVersion: `${group}/${version}`, resources: [] } }
  const resource = group === 'external.metrics.k8s.io' ? (rest[0] ?? '') : `${rest[0]}/${rest.at(-1)}`
  const resourceAttributes = { verb: 'list', group, version, namespace, resource }
  const { body: review } = await call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    spec: { ...found, resourceAttributes },
  })
  if (!(review as { readonly status: { readonly allowed: boolean } }).status.allowed)
    return failure(403, `${found.user} may not list ${resource}`)
  return { status: 200, body: await metricsOf(group, version, namespace, rest, url.searchParams) }
}

async function metricsOf(
  group: string,
  version: string,
  namespace: string,
  [resource = '', name = '', metric = '']: readonly string[],
  query: URLSearchParams,
): Promise<object> {
  const timestamp = rfc3339(realClock.nowMs())
  const list = (kind: string, items: readonly object[]) => ({ kind, apiVersion: `${group}/${version}`, items })
  if (group === 'external.metrics.k8s.io')
    return list(
      'ExternalMetricValueList',
      values.external.map((value) => ({ metricName: resource, metricLabels: {}, timestamp, value })),
    )
  const value = (of: string, amount: string) => ({
    describedObject: { kind: resource, namespace, name: of },
    metric: { name: metric },
    timestamp,
    value: amount,
  })
  if (name !== '*') return list('MetricValueList', [value(name, values.object)])
  const selector = encodeURIComponent(query.get('labelSelector') ?? '')
  const { body } = await call('GET', `/api/v1/namespaces/${namespace}/pods?labelSelector=${selector}`)
  const { items } = body as { readonly items: readonly { readonly metadata: { readonly name: string } }[] }
  return list(
    'MetricValueList',
    items.map(({ metadata }) => value(metadata.name, values.pod)),
  )
}

const server = createServer(
  {
    cert: certificate,
    key,
    requestCert: true,
    rejectUnauthorized: false,
    ca: authentication['requestheader-client-ca-file'],
  },
  (request, response) =>
    void respond(request).then(({ status, body }) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    ),
)
server.listen(port, host, () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
