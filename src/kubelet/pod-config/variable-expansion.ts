// Expansion of `$(NAME)` in commands, arguments and values; `$$` is a dollar sign. Unknown references are left as they
// are.

export function expandVariables(text: string, variables: ReadonlyMap<string, string>): string {
  if (!text.includes('$')) return text
  return text.replaceAll(/\$\$|\$\(([^()]*)\)/g, (found, name: string | undefined) => {
    if (name === undefined) return '$'
    return variables.get(name) ?? found
  })
}
