// $(NAME) in commands, arguments and values stands for a variable; $$ is a dollar. What is unknown stays as written.

export function expandVariables(text: string, variables: ReadonlyMap<string, string>): string {
  if (!text.includes('$')) return text
  return text.replaceAll(/\$\$|\$\(([^()]*)\)/g, (found, name: string | undefined) => {
    if (name === undefined) return '$'
    return variables.get(name) ?? found
  })
}
