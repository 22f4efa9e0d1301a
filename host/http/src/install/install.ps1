# Registers an agent at a Portolan host and stores its credentials on this machine.
# For PowerShell 5.1 and newer. Writes one file and nothing else.
#
# With options:  & ([scriptblock]::Create((irm <host>/v1/install/install.ps1))) -DryRun
param(
    [string]$Name = 'installed agent',
    [switch]$Force,
    [switch]$DryRun,
    [switch]$Uninstall,
    [switch]$Help
)

# The host writes its own address here when it serves the script.
$BaseUrl = '{{public_url}}'

function Show-Usage {
    Write-Host "Registers an agent at $BaseUrl"
    Write-Host 'and writes its credentials to portolan/credentials.json in the configuration folder.'
    Write-Host ''
    Write-Host "Usage: & ([scriptblock]::Create((irm $BaseUrl/v1/install/install.ps1))) [options]"
    Write-Host ''
    Write-Host '  -Name NAME   what the agent is called; the person who claims it reads this'
    Write-Host '  -Force       register again and replace the credentials that are there'
    Write-Host '  -DryRun      say what would be done; send nothing and change nothing'
    Write-Host '  -Uninstall   remove the credentials'
    Write-Host '  -Help        this text'
}

function Stop-Install([string]$Problem, [string]$Fix) {
    throw "install.ps1: $Problem`n  to fix it: $Fix"
}

function Get-CredentialsFolder {
    if ($env:XDG_CONFIG_HOME -and [IO.Path]::IsPathRooted($env:XDG_CONFIG_HOME)) {
        return (Join-Path $env:XDG_CONFIG_HOME 'portolan')
    }
    if ($env:OS -eq 'Windows_NT') {
        return (Join-Path $env:APPDATA 'portolan')
    }
    if (-not $env:HOME) {
        Stop-Install 'there is no home folder' 'set HOME or XDG_CONFIG_HOME to an absolute path'
    }
    return (Join-Path $env:HOME '.config/portolan')
}

function Remove-Credentials([string]$Folder, [string]$File) {
    if (-not (Test-Path -LiteralPath $File)) {
        Write-Host "nothing to remove: there is no $File"
        return
    }
    if ($DryRun) {
        Write-Host "would remove $File"
        Write-Host 'nothing was changed'
        return
    }
    Remove-Item -LiteralPath $File -Force
    if (-not (Get-ChildItem -LiteralPath $Folder -Force)) {
        Remove-Item -LiteralPath $Folder
    }
    Write-Host "removed $File"
    Write-Host 'The agent of that file is still registered at the host. If a person has claimed it,'
    Write-Host 'another of their agents can revoke it with the action revoke_agent of the capability owners.'
}

# Makes a file readable for this user only.
function Protect-File([string]$Path) {
    if ($env:OS -eq 'Windows_NT') {
        $user = [Security.Principal.WindowsIdentity]::GetCurrent().Name
        & icacls $Path /inheritance:r /grant:r "${user}:F" | Out-Null
    } else {
        & chmod 600 $Path
    }
    if ($LASTEXITCODE -ne 0) {
        Stop-Install "$Path cannot be made private" 'use a folder on a file system with permissions'
    }
}

function Register-Agent {
    # Windows PowerShell 5.1 does not offer TLS 1.2 by itself.
    [Net.ServicePointManager]::SecurityProtocol =
        [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
    $body = @{
        type = 'anonymous'
        agent_name = $Name
        software_id = 'portolan-install'
        install_id = [Guid]::NewGuid().ToString('N')
    } | ConvertTo-Json -Compress
    try {
        return Invoke-RestMethod -Method Post -Uri "$BaseUrl/v1/agents/register" -TimeoutSec 30 `
            -ContentType 'application/json' -Body ([Text.Encoding]::UTF8.GetBytes($body))
    } catch {
        $failure = $null
        try { $failure = $_.ErrorDetails.Message | ConvertFrom-Json } catch { }
        if (-not $failure.error_code) {
            Stop-Install "$BaseUrl does not answer: $($_.Exception.Message)" `
                'check the address and the network, then try again'
        }
        $fix = 'change what the message names, or ask whoever operates the host'
        if ($failure.error_code -eq 'rate_limited') {
            $fix = 'try again later'
            if ($failure.next.after_s) { $fix = "try again in $($failure.next.after_s) seconds" }
        }
        Stop-Install "the registration was refused ($($failure.error_code)): $($failure.message)" $fix
    }
}

function Show-NextSteps([string]$File) {
    Write-Host ''
    Write-Host 'A first call, from a token to an answer:'
    Write-Host ''
    Write-Host "  `$c = Get-Content -Raw '$($File -replace "'", "''")' | ConvertFrom-Json"
    Write-Host '  $form = @{ grant_type = "client_credentials"; client_id = $c.client_id; client_secret = $c.client_key }'
    Write-Host '  $token = (Invoke-RestMethod -Method Post "$($c.base_url)/oauth/token" -Body $form).access_token'
    Write-Host '  $call = { param($id, $body) Invoke-RestMethod -Method Post "$($c.base_url)/v1/capabilities/$id/call" -Headers @{ Authorization = "Bearer $token" } -ContentType "application/json" -Body ($body | ConvertTo-Json) }'
    Write-Host '  & $call faq_search @{ query = "how does a person claim an agent" }'
    Write-Host ''
    Write-Host 'Reading needs no more than this. To write, the person behind the agent claims it'
    Write-Host 'with a code sent to their mobile phone:'
    Write-Host ''
    Write-Host '  & $call {{phone_verification}} @{ action = "bind"; phone = "+12015550123" }'
    Write-Host '  & $call {{phone_verification}} @{ action = "verify"; code = "123456" }'
}

function Install-Agent([string]$Folder, [string]$File) {
    $there = Test-Path -LiteralPath $File
    if ($there -and -not $Force) {
        Stop-Install "$File is there already, so this machine has an agent" `
            'use it, or run this with -Force to register another one and replace it'
    }
    if ($DryRun) {
        Write-Host "would register an agent called `"$Name`" at $BaseUrl"
        Write-Host "would write $File, which only you can read"
        Write-Host 'nothing was sent and nothing was changed'
        return
    }
    $unfinished = Join-Path $Folder ".install.$PID"
    try {
        New-Item -ItemType Directory -Path $Folder -Force | Out-Null
        New-Item -ItemType File -Path $unfinished -Force | Out-Null
    } catch {
        Stop-Install "$Folder cannot be written: $($_.Exception.Message)" `
            'make it writable, or set XDG_CONFIG_HOME to a folder that is'
    }
    try {
        Protect-File $unfinished
        $agent = Register-Agent
        if (-not ($agent.agent_id -and $agent.client_id -and $agent.client_key)) {
            Stop-Install "$BaseUrl did not answer as a Portolan host does" `
                'check the address; a proxy may have answered in its place'
        }
        # The client key replaces the client's secret, which is not stored.
        $kept = [ordered]@{
            base_url = $BaseUrl
            agent_id = $agent.agent_id
            client_id = $agent.client_id
            client_key = $agent.client_key
        }
        [IO.File]::WriteAllText($unfinished, ($kept | ConvertTo-Json) + "`n")
        Move-Item -LiteralPath $unfinished -Destination $File -Force
    } finally {
        if (Test-Path -LiteralPath $unfinished) { Remove-Item -LiteralPath $unfinished -Force }
    }
    Write-Host "registered $($agent.agent_id) at $BaseUrl"
    Write-Host "credentials are in $File, which only you can read"
    Show-NextSteps $File
}

function Invoke-Install([object[]]$Unknown) {
    $ErrorActionPreference = 'Stop'
    if ($Help) {
        Show-Usage
        return
    }
    if ($Unknown) {
        Show-Usage
        Stop-Install "there is no option $($Unknown[0])" 'use one of the options above'
    }
    if (-not $Name -or $Name -match '[\x00-\x1f\x7f]') {
        Stop-Install 'the name is not usable' 'give -Name visible characters'
    }
    $folder = Get-CredentialsFolder
    $file = Join-Path $folder 'credentials.json'
    if ($Uninstall) {
        Remove-Credentials $folder $file
    } else {
        Install-Agent $folder $file
    }
}

# This is the last line, so that a partially downloaded script does nothing.
Invoke-Install $args
