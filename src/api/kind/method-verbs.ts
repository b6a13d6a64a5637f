// methodVerbs: which verb of access a method of HTTP asks for, where nothing else of the request decides.
export const methodVerbs: Readonly<Record<string, 'get' | 'create' | 'update' | 'patch' | 'delete'>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}
