// Import cycles between folders. A folder is a package: the files directly in it, without tests, harnesses and suites.
import { dirname } from 'node:path'
import type { SourceFile } from './source-file.ts'

const isMeasured = (path: string) => path.startsWith('src/') && !/\.(test|suite|harness)\.ts$/.test(path)

/** Folders and the folders that they import, each with an example `a.ts → b.ts`. */
type FolderGraph = ReadonlyMap<string, ReadonlyMap<string, string>>

function folderGraph(files: readonly SourceFile[]): FolderGraph {
  const graph = new Map<string, Map<string, string>>()
  for (const { path, imports } of files.filter((file) => isMeasured(file.path))) {
    const folder = dirname(path)
    const edges = graph.get(folder) ?? new Map<string, string>()
    graph.set(folder, edges)
    for (const { target } of imports)
      if (isMeasured(target) && dirname(target) !== folder && !edges.has(dirname(target)))
        edges.set(dirname(target), `${path.slice(folder.length + 1)} imports ${target}`)
  }
  return graph
}

/** Strongly connected components with more than one folder (Tarjan's algorithm). */
function components(graph: FolderGraph): string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const found: string[][] = []
  const visit = (folder: string): number => {
    const own = index.size
    index.set(folder, own)
    low.set(folder, own)
    stack.push(folder)
    for (const next of graph.get(folder)?.keys() ?? []) {
      const reached = index.has(next) ? (stack.includes(next) ? index.get(next) : undefined) : visit(next)
      if (reached !== undefined) low.set(folder, Math.min(low.get(folder) ?? own, reached))
    }
    const lowest = low.get(folder) ?? own
    if (lowest === own) {
      const component = stack.splice(stack.indexOf(folder))
      if (component.length > 1) found.push(component.toSorted())
    }
    return lowest
  }
  for (const folder of graph.keys()) if (!index.has(folder)) visit(folder)
  return found
}

export interface FolderCycle {
  readonly folders: readonly string[]
  /** The imports that make the cycle, one example for each pair of folders. */
  readonly imports: readonly string[]
}

/** Empty when no folder imports itself through others. */
export function folderCycles(files: readonly SourceFile[]): FolderCycle[] {
  const graph = folderGraph(files)
  return components(graph).map((folders) => ({
    folders,
    imports: folders.flatMap((folder) =>
      [...(graph.get(folder) ?? [])].flatMap(([target, example]) =>
        folders.includes(target) ? [`${folder}/${example}`] : [],
      ),
    ),
  }))
}
