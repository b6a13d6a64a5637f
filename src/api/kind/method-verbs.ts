// methodVerbs: the authorization verb of each HTTP method, unless other parts of the request determine it.
export const methodVerbs: Readonly<Record<string, 'get' | 'create' | 'update' | 'patch' | 'delete'>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}
