// The tree of the architecture page as data: which folder of src/ may import which, and where units are listed.

/** What a folder may import directly; it may also import whatever those may import. */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  base: [],
  platform: ['base'],
  schema: ['base'],
  cel: ['schema'],
  wire: ['platform', 'schema'],
  pki: ['platform'],
  api: ['schema', 'cel'],
  store: ['wire'],
  apiserver: ['api', 'store', 'pki', 'wire'],
  client: ['api', 'wire'],
  controllers: ['client', 'pki'],
  cloud: ['controllers', 'machine'],
  scheduler: ['client'],
  kwok: ['client'],
  machine: ['wire'],
  kubelet: ['client', 'machine', 'pki'],
  proxy: ['client', 'machine'],
  'network-policy': ['client', 'machine'],
  dns: ['client', 'machine'],
  ingress: ['client', 'machine'],
  gateway: ['ingress'],
  storage: ['client', 'machine'],
  flows: ['dns', 'gateway', 'network-policy', 'proxy'],
  ui: ['client', 'flows'],
  cluster: [
    'apiserver',
    'controllers',
    'cloud',
    'scheduler',
    'kubelet',
    'kwok',
    'proxy',
    'network-policy',
    'dns',
    'ingress',
    'gateway',
    'storage',
    'flows',
    'ui',
  ],
  cli: ['cluster'],
}

/** Everything a folder may import, itself included. */
export function reachable(folder: string, tree: typeof mayImport = mayImport): ReadonlySet<string> {
  const seen = new Set<string>()
  const visit = (name: string) => {
    if (seen.has(name)) return
    seen.add(name)
    for (const next of tree[name] ?? []) visit(next)
  }
  visit(folder)
  return seen
}

/** Files that may import `node:` modules; all other code runs on any JavaScript engine. */
export const nodeModulesAllowed =
  /^src\/(platform|cluster|cli)\/|^src\/(store|machine)\/.*(sqlite|etcd|containerd|node)/

/** A unit is created by its define function, and must be in the list of its kind. */
export const unitLists: Readonly<Record<string, string>> = {
  defineAdmissionPlugin: 'src/apiserver/admission/plugins.ts',
  defineCommand: 'src/cli/commands.ts',
  defineController: 'src/controllers/controllers.ts',
  defineKind: 'src/api/kinds.ts',
  defineSchedulerPlugin: 'src/scheduler/plugins.ts',
  defineFilter: 'src/apiserver/filters.ts',
  defineVolumeType: 'src/kubelet/volumes/volume-types.ts',
}
