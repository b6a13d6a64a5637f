// The access matrix: the permissions that each form of a request needs. A user without permissions sends the request, is
// granted exactly what the 403 names, and sends it again until it is not rejected. `test/record/access-matrix.ts` records the
// responses of kube-apiserver, and access-matrix.test.ts expects the same of ours.

export interface MatrixRequest {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** `test/facts/access-matrix.json` */
export interface Matrix {
  /** The objects that the requests use, in the order of their creation: path and object. */
  readonly objects: readonly (readonly [path: string, object: object])[]
  readonly rows: readonly MatrixRow[]
}

export interface MatrixRow extends MatrixRequest {
  /** `create pods/exec default/p`: verb, resource with its group and subresource, namespace and name; or verb and path. */
  readonly asked: readonly string[]
  /**
   * The response to the request with these permissions. `unreached`: no server responds behind the proxy; upstream may have
   * upgraded the connection (101) before it notices.
   */
  readonly status: number | 'unreached'
}

export interface MatrixAnswer {
  readonly status: number
  readonly message: string
  readonly name: string
}

export interface MatrixServer {
  /** Sends the request as the user without permissions. */
  send(request: MatrixRequest): Promise<MatrixAnswer>
  /** Grants the user these rules and nothing else. */
  grant(rules: readonly object[]): Promise<void>
}

interface Right {
  readonly verb: string
  /** The target of the verb, as the row names it. */
  readonly on: string
  readonly rule: object
}

const resourcePattern =
  /cannot (\S*) resource "([^"]*)" in API group "([^"]*)" (?:at the cluster scope|in the namespace "([^"]*)")/
const pathPattern = /cannot (\S*) path "([^"]*)"/

/** The permission that a 403 names. */
function namedRight({ status, message, name }: MatrixAnswer): Right | undefined {
  if (status !== 403) return undefined
  const [, verb = '', resource = '', group = '', namespace = ''] = resourcePattern.exec(message) ?? []
  if (resource !== '') {
    const names = name === '' ? {} : { resourceNames: [name] }
    const rule = { verbs: [verb], apiGroups: [group], resources: [resource], ...names }
    return { verb, on: `${resource}${group === '' ? '' : `.${group}`} ${namespace}/${name}`, rule }
  }
  const [, pathVerb = '', path = ''] = pathPattern.exec(message) ?? []
  return path === '' ? undefined : { verb: pathVerb, on: path, rule: { verbs: [pathVerb], nonResourceURLs: [path] } }
}

const withVerb = (right: Right, verb: string): Right => ({ ...right, verb, rule: { ...right.rule, verbs: [verb] } })

const candidates = ['create', 'get', 'list', 'watch', 'head', 'update', 'patch', 'delete']

/** For a 403 without a permission: finds the verb on the same resource that is missing. Responses to HEAD have no message. */
async function foundRight(
  request: MatrixRequest,
  rights: readonly Right[],
  server: MatrixServer,
): Promise<Right | undefined> {
  const known = rights.at(-1) ?? (request.method === 'HEAD' ? await rightOfGet(request, server) : undefined)
  if (known === undefined) return undefined
  for (const verb of candidates) {
    const right = withVerb(known, verb)
    await server.grant([...rights, right].map(({ rule }) => rule))
    if ((await server.send(request)).status !== 403) return right
  }
  return undefined
}

const rightOfGet = async (request: MatrixRequest, server: MatrixServer): Promise<Right | undefined> =>
  namedRight(await server.send({ ...request, method: 'GET' }))

const rightsMax = 8

export async function rowOf(request: MatrixRequest, server: MatrixServer): Promise<MatrixRow> {
  const rights: Right[] = []
  for (;;) {
    await server.grant(rights.map(({ rule }) => rule))
    const answer = await server.send(request)
    const named = namedRight(answer)
    const isKnown = rights.some(({ verb, on }) => verb === named?.verb && on === named.on)
    const right = named ?? (answer.status === 403 ? await foundRight(request, rights, server) : undefined)
    if (right === undefined || isKnown || rights.length === rightsMax)
      return {
        ...request,
        asked: rights.map(({ verb, on }) => `${verb} ${on}`),
        status: answer.status >= 500 || answer.status === 101 ? 'unreached' : answer.status,
      }
    rights.push(right)
  }
}

/** The user of the matrix is this ServiceAccount. */
export const matrixAccount = { namespace: 'default', name: 'matrix' }
export const matrixUser = `system:serviceaccount:${matrixAccount.namespace}:${matrixAccount.name}`
export const matrixRole = 'access-matrix'

interface Caller {
  call(method: string, path: string, body?: unknown): Promise<unknown>
}

const rbac = '/apis/rbac.authorization.k8s.io/v1'
const role = { metadata: { name: matrixRole } }

/** Creates the objects of a recording, and the account's role, which grants nothing. */
export async function createMatrixObjects(server: Caller, objects: Matrix['objects']): Promise<void> {
  for (const [path, object] of objects) await server.call('POST', path, object)
  await server.call('POST', `${rbac}/clusterroles`, { ...role, rules: [] })
  await server.call('POST', `${rbac}/clusterrolebindings`, {
    ...role,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: matrixRole },
    subjects: [{ kind: 'ServiceAccount', ...matrixAccount }],
  })
}

/** Grants the account these rules and nothing else. */
export async function grantMatrixRules(server: Caller, rules: readonly object[]): Promise<void> {
  await server.call('PUT', `${rbac}/clusterroles/${matrixRole}`, { ...role, rules })
}
