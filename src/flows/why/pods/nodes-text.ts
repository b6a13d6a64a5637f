// nodesText: the names of nodes as the subject of a sentence.
import { namesText, plural } from '../explainer/explainer.ts'

/** `Node a`, `2 nodes (a and b)` */
export const nodesText = (names: readonly string[]): string =>
  names.length === 1 ? `Node ${names[0] ?? ''}` : `${plural(names.length, 'node')} (${namesText(names)})`
