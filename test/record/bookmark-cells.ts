// Asks a server for the cells of a bookmark in a watch as Table, for every resource, and writes them to
// test/facts/bookmark-cells.json:
//   node test/record/bookmark-cells.ts https://127.0.0.1:6443 client.crt client.key
import { readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'

interface Discovery {
  readonly items: readonly {
    readonly metadata: { readonly name?: string }
    readonly versions: readonly {
      readonly version: string
      readonly resources: readonly { readonly resource: string; readonly verbs: readonly string[] }[]
    }[]
  }[]
}

interface TableEvent {
  readonly type: string
  readonly object: { readonly rows: readonly { readonly cells: readonly unknown[] }[] }
}

const [address = '', certificate = '', key = ''] = process.argv.slice(2)
const agent = new Agent({ cert: readFileSync(certificate), key: readFileSync(key), rejectUnauthorized: false })

const ask = (path: string, accept: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const asked = request(`${address}${path}`, { agent, headers: { accept } }, (answer) => {
      let text = ''
      answer.on('data', (piece) => (text += String(piece)))
      answer.on('end', () => resolve(text))
    })
    asked.on('error', reject)
    asked.end()
  })

const query =
  'watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1&includeObject=None'
const rows: string[] = []
for (const root of ['/api', '/apis']) {
  const text = await ask(root, 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList')
  for (const { metadata, versions } of (JSON.parse(text) as Discovery).items)
    for (const { version, resources } of versions)
      for (const { resource } of resources.filter(({ verbs }) => verbs.includes('watch'))) {
        const apiVersion = metadata.name ? `${metadata.name}/${version}` : version
        const events = await ask(
          `${root}/${apiVersion}/${resource}?${query}`,
          'application/json;as=Table;v=v1;g=meta.k8s.io',
        )
        const lines = events.trim().split('\n')
        const bookmark = lines.map((line) => JSON.parse(line) as TableEvent).find(({ type }) => type === 'BOOKMARK')
        rows.push(`  ${JSON.stringify([apiVersion, resource, bookmark?.object.rows[0]?.cells])}`)
      }
}
writeFileSync(new URL('../facts/bookmark-cells.json', import.meta.url), `[\n${rows.toSorted().join(',\n')}\n]\n`)
