/** Set to '1' for a test file that is in namespaces already. */
export const namespacesMarker: string
/** The command that runs a program in namespaces. */
export function inNamespacesCommand(...command: string[]): { readonly program: string; readonly args: string[] }
/** A process and its descendants, what they wait for in the kernel, and their place in the tree. */
export function processTree(pid: number | undefined): { readonly pids: readonly number[]; readonly text: string }
